import { Readable } from 'node:stream';
import type { WaitingBytes } from './waiting-bytes.ts';
import { eventText, HEARTBEAT, type StreamEvent } from './wire.ts';

/** How much may wait for one client. */
export const BEHIND_MAX_BYTES = 1024 * 1024;
/** Handed on before it is asked for. */
const AHEAD_BYTES = 16 * 1024;
/** As long as a connection on which nothing moves: who was told its end and took nothing of it is looked for as often. */
export const END_LIMIT_MS = 120_000;

export interface StreamClient {
  body: Readable;
  /** Writes in the order of the calls; nothing after its end. */
  send(event: StreamEvent): void;
  write(text: string | Buffer): void;
  beat(): void;
  /** Ends it behind all that waits for it. */
  end(reason: string): void;
  /** Ends it in place of what waits for it. */
  cut(reason: string): void;
  ended(): boolean;
  /** How many bytes stand in its line. */
  inLine(): number;
  /** Waits until nothing stands in it any more, or the client has ended; so long at most. */
  emptied(mostMs: number): Promise<void>;
}

/** One connection: bounded in what waits for it, and told why where it is ended. @param room what waits for all of them */
export function createClient(room: Pick<WaitingBytes, 'add' | 'take'>, onClosed: () => void): StreamClient {
  const line: Buffer[] = [];
  let inLine = 0;
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
  /** It may be asked for more within. */
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
    inLine -= bytes.length;
    room.take(bytes);
  };
  const leaveAll = () => {
    for (const bytes of line.splice(0)) leave(bytes);
  };
  const put = (bytes: Buffer) => {
    // Nothing stands in the line then.
    if (isWanted) return give(bytes);
    line.push(bytes);
    inLine += bytes.length;
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
  /** Its place is taken until then. Nothing is added any more: what waits becomes less where it takes something. */
  const endWhoTakesNothing = () => {
    let waited = inLine + body.readableLength;
    const limit = setTimeout(() => {
      const waits = inLine + body.readableLength;
      // Without an error the response would be left open: whoever pipes has seen the end come.
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
    if (inLine + body.readableLength > BEHIND_MAX_BYTES)
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
    inLine: () => inLine,
    emptied: (mostMs) =>
      new Promise((resolve) => {
        const over = () => {
          clearTimeout(limit);
          onEmptied.delete(over);
          resolve();
        };
        const limit = setTimeout(over, mostMs);
        onEmptied.add(over);
        if (ended || inLine === 0) over();
      }),
  };
}
