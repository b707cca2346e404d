import http from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

export const json = { 'content-type': 'application/json' };

/** The answer to a request; null where none came. Nothing throws: a hostile client goes on whatever happens. */
export function ask(
  url: string,
  headers: Record<string, string>,
  options: { method?: string; body?: string } = {},
): Promise<{ status: number; text: string } | null> {
  return new Promise((resolve) => {
    const request = http.request(url, { agent, headers, method: options.method ?? 'GET' }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('close', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    request.on('error', () => resolve(null));
    request.setTimeout(10_000, () => request.destroy());
    request.end(options.body);
  });
}

/** Opens a connection, sends `text` and holds it open. @param reads whether it reads what it is sent */
export async function hold(url: string, text: string, heldMs: number, reads: boolean): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  if (reads) socket.resume();
  else socket.pause();
  socket.write(text);
  await pause(heldMs);
  socket.destroy();
}
