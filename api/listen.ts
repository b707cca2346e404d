import http from 'node:http';
import type Koa from 'koa';

export interface Listening {
  port: number;
  /** Takes no more connections, lets running answers finish, then ends. */
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CLOSE_LIMIT_MS = 5_000;

/** Serves the application; rejects where the address is taken. */
export async function listen(app: Koa, host: string, port: number): Promise<Listening> {
  const server = http.createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    app.callback(),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        const limit = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
        server.close(() => {
          clearTimeout(limit);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
