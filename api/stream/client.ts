import { Readable } from 'node:stream';
import type { WaitingBytes } from './waiting-bytes.ts';
import { eventText, HEARTBEAT, type StreamEvent } from './wire.ts';

/** How much may wait for one client. */
export const BEHIND_MAX_BYTES = 1024 * 1024;
/** Bytes that are handed on before the response asks for them. */
const AHEAD_BYTES = 16 * 1024;
/**
 * How often a client that was sent its end is checked for whether it has taken any of it: as long as a connection may
 * stand on which nothing moves.
 */
export const END_LIMIT_MS = 120_000;

export interface StreamClient {
  body: Readable;
  /** Writes in the order of the calls; nothing after its end. */
  send(event: StreamEvent): void;
  write(text: string | Buffer): void;
  beat(): void;
  /** Ends the connection behind all that waits for it. */
  end(reason: string): void;
  /** Drops what waits for it, and ends the connection. */
  cut(reason: string): void;
  ended(): boolean;
  /** How many bytes stand in its queue. */
  queuedBytes(): number;
  /** Waits until the queue is empty or the client has ended, `mostMs` at most. */
  whenDrained(mostMs: number): Promise<void>;
}

/** One connection: bounded in what waits for it, and told why it is ended. @param room counts what waits for all */
export function createClient(room: Pick<WaitingBytes, 'add' | 'take'>, onClosed: () => void): StreamClient {
  const line: Buffer[] = [];
  let queuedBytes = 0;
  let isWanted = true;
  let ended = false;
  const onEmptied = new Set<() => void>();
  const handOn = () => {
    while (isWanted) {
      const next = line.shift();
      if (next === undefined) {
        if (ended) body.push(null);
        tellEmptied();
        return;
      }
      leave(next);
      give(next);
    }
  };
  /** `push` may ask for more before it returns. */
  const give = (bytes: Buffer) => {
    isWanted = false;
    if (body.push(bytes)) isWanted = true;
  };
  const body = new Readable({
    highWaterMark: AHEAD_BYTES,
    read: () => {
      isWanted = true;
      handOn();
    },
  });
  const tellEmptied = () => {
    for (const call of onEmptied) call();
  };
  const leave = (bytes: Buffer) => {
    queuedBytes -= bytes.length;
    room.take(bytes);
  };
  const leaveAll = () => {
    for (const bytes of line.splice(0)) leave(bytes);
  };
  const put = (bytes: Buffer) => {
    // The queue is empty then.
    if (isWanted) return give(bytes);
    line.push(bytes);
    queuedBytes += bytes.length;
    room.add(bytes);
  };
  body.once('close', () => {
    ended = true;
    leaveAll();
    tellEmptied();
    onClosed();
  });
  // A client that goes away in mid-write is no failure.
  body.on('error', () => undefined);
  const end = (reason: string) => {
    if (ended) return;
    ended = true;
    put(Buffer.from(eventText({ event: 'end', data: { reason } })));
    handOn();
    tellEmptied();
    endWhoTakesNothing();
  };
  /**
   * Destroys an ended connection whose client takes nothing, as it keeps its place until then. Nothing is added any
   * more: what waits becomes less where the client takes some of it.
   */
  const endWhoTakesNothing = () => {
    let waited = queuedBytes + body.readableLength;
    const limit = setTimeout(() => {
      const waits = queuedBytes + body.readableLength;
      // Without an error the response would be left open: the pipe to it has seen the stream end.
      if (waits >= waited) return void body.destroy(new Error('its end was not read'));
      waited = waits;
      limit.refresh();
    }, END_LIMIT_MS);
    limit.unref();
    body.once('close', () => clearTimeout(limit));
  };
  const cut = (reason: string) => {
    if (ended) return;
    leaveAll();
    end(reason);
  };
  const write = (text: string | Buffer) => {
    if (ended) return;
    put(typeof text === 'string' ? Buffer.from(text) : text);
    if (queuedBytes + body.readableLength > BEHIND_MAX_BYTES)
      cut('this client reads too slowly: it was more than 1 MB behind');
  };
  return {
    body,
    write,
    send: (event) => write(eventText(event)),
    beat: () => write(HEARTBEAT),
    end,
    cut,
    ended: () => ended,
    queuedBytes: () => queuedBytes,
    whenDrained: (mostMs) =>
      new Promise((resolve) => {
        const over = () => {
          clearTimeout(limit);
          onEmptied.delete(over);
          resolve();
        };
        const limit = setTimeout(over, mostMs);
        onEmptied.add(over);
        if (ended || queuedBytes === 0) over();
      }),
  };
}
