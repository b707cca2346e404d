/** One event of a stream as it goes over the wire. */
export interface StreamEvent {
  event: 'activity' | 'post' | 'ranking' | 'gap' | 'end';
  /** Where a client goes on behind it; none leaves the last one standing. */
  id?: string;
  data: unknown;
}

/** An event in one piece: JSON has no line feed outside its texts, and none inside them unescaped. */
export function eventText({ event, id, data }: StreamEvent): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** What keeps a connection alive, and is no event. */
export const HEARTBEAT = ':\n\n';

/** Says where the stream begins, so that a client that loses it before its first event goes on from there. */
export const beginText = (id: string | null) => `retry: 2000\n${id === null ? '' : `id: ${id}\n`}\n`;
