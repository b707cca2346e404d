import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Answer {
  status: number;
  text: string;
  headers: http.IncomingHttpHeaders;
  /** Milliseconds from the request to the last byte of the answer. */
  ms: number;
}

export interface Send {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

const GIVEN_UP_MS = 30_000;

/** Sends requests over connections that are kept open. An answer of status 0 means that none came. */
export function createSender() {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 512 });
  return {
    send: (url: string, { method = 'GET', headers = {}, body }: Send = {}) =>
      new Promise<Answer>((resolve) => {
        const startedAt = performance.now();
        const done = (status: number, text: string, answered: http.IncomingHttpHeaders) =>
          resolve({ status, text, headers: answered, ms: performance.now() - startedAt });
        const request = http.request(url, { method, headers, agent }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => void chunks.push(chunk));
          response.on('end', () =>
            done(response.statusCode ?? 0, Buffer.concat(chunks).toString(), response.headers),
          );
          response.on('error', () => done(0, '', {}));
        });
        request.on('error', () => done(0, '', {}));
        request.setTimeout(GIVEN_UP_MS, () => request.destroy());
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

const TICK_MS = 10;

/** Starts `work` `perSecond` times a second, whether or not earlier calls are done; resolves once all are. */
export async function atRate(
  perSecond: number,
  seconds: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  let started = 0;
  for (;;) {
    const elapsed = (performance.now() - startedAt) / 1000;
    if (elapsed >= seconds) break;
    for (; started < elapsed * perSecond; started += 1) running.push(work(started));
    await pause(TICK_MS);
  }
  await Promise.all(running);
}
