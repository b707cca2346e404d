/** One event of a stream as it goes over the wire. */
export interface StreamEvent {
  event: 'activity' | 'post' | 'ranking' | 'gap' | 'end';
  data: unknown;
}

/** An event without an id: the client's last one stays. */
export const eventText = ({ event, data }: StreamEvent): string => eventOf(event, null, JSON.stringify(data));

/**
 * An event as text. JSON fits in one line: it has no line feed outside its texts, and none inside them unescaped.
 * @param id where a client goes on behind the event; null leaves its last id as it is
 */
export const eventOf = (event: StreamEvent['event'], id: string | null, json: string): string =>
  `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${json}\n\n`;

/** An event for many clients: its JSON is made once, and its bytes once for all clients at the same position. */
export type SharedEvent = (id: string) => Buffer;

/** Clients are at few positions at once. A client that made its own up gets bytes of its own. */
const MOST_SHARED = 4;

export function sharedEvent(event: StreamEvent['event'], data: unknown): SharedEvent {
  const shared = new Map<string, Buffer>();
  let json: string | null = null;
  return (id) => {
    const known = shared.get(id);
    if (known !== undefined) return known;
    json ??= JSON.stringify(data);
    const bytes = Buffer.from(eventOf(event, id, json));
    if (shared.size < MOST_SHARED) shared.set(id, bytes);
    return bytes;
  };
}

/** What keeps a connection alive, and is no event. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** Says where the stream begins, so that a client that loses it before its first event goes on from there. */
export const beginText = (id: string | null) => `retry: 2000\n${id === null ? '' : `id: ${id}\n`}\n`;
