import { PassThrough, type Readable } from 'node:stream';
import { eventText, HEARTBEAT, type StreamEvent } from './wire.ts';

/** How much may wait for one client. */
export const BEHIND_MAX_BYTES = 1024 * 1024;
/** For how long one that was told its end may take to read that. */
const END_LIMIT_MS = 10_000;

export interface StreamClient {
  body: Readable;
  /** Writes in the order of the calls; nothing after its end. */
  send(event: StreamEvent): void;
  write(text: string | Buffer): void;
  beat(): void;
  end(reason: string): void;
  ended(): boolean;
}

/** One connection: bounded in what waits for it, and told why where it is ended. */
export function createClient(onClosed: () => void): StreamClient {
  const body = new PassThrough();
  let ended = false;
  body.once('close', () => {
    ended = true;
    onClosed();
  });
  // A client that goes away in mid-write is no failure.
  body.on('error', () => undefined);
  const end = (reason: string) => {
    if (ended) return;
    ended = true;
    body.end(eventText({ event: 'end', data: { reason } }));
    const limit = setTimeout(() => body.destroy(), END_LIMIT_MS);
    limit.unref();
    body.once('close', () => clearTimeout(limit));
  };
  const write = (text: string | Buffer) => {
    if (ended) return;
    body.write(text);
    if (body.writableLength + body.readableLength > BEHIND_MAX_BYTES)
      end('this client reads too slowly: it was more than 1 MB behind');
  };
  return {
    body,
    write,
    send: (event) => write(eventText(event)),
    beat: () => write(HEARTBEAT),
    end,
    ended: () => ended,
  };
}
