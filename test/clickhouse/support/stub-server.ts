import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A statement as the server receives it. */
export interface Told {
  sql: string;
  settings: URLSearchParams;
}

export interface StubServer {
  url: string;
  told: Told[];
  close(): Promise<void>;
}

/**
 * A stand-in for a ClickHouse server: rows, or a text as it is, are answered with status 200; `null` is never answered.
 * @param headers of each answer
 */
export async function serveStatements(
  answer: (told: Told) => readonly object[] | string | null,
  headers: () => Record<string, string> = () => ({ 'X-ClickHouse-Query-Id': 'any' }),
): Promise<StubServer> {
  const told: Told[] = [];
  const server = http.createServer(async (request, response) => {
    const settings = new URL(request.url ?? '/', 'http://here').searchParams;
    const body = await text(request);
    const one = { sql: [settings.get('query'), body].filter(Boolean).join('\n'), settings };
    told.push(one);
    const reply = answer(one);
    if (reply === null) return;
    response.writeHead(200, headers()).end(typeof reply === 'string' ? reply : `${JSON.stringify(reply)}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
