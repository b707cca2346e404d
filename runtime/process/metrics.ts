import http from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { whyNotListening } from './listening.ts';
import type { Readiness } from './readiness.ts';

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/** A registry with the process's own figures in it. */
export function createRegistry(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Serves `/metrics` for Prometheus, `/live`, and `/ready` with what is missing. */
export async function serveMetrics(
  registry: Registry,
  readiness: Readiness,
  host: string,
  port: number,
  /** What an operator is to know of a process that is ready all the same. */
  notes: () => string[] = () => [],
): Promise<MetricsServer> {
  const answer = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET') return void response.writeHead(405).end();
    if (path === '/metrics') {
      const text = await registry.metrics();
      return void response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    }
    if (path === '/live') return json(response, 200, { live: true });
    if (path === '/ready') {
      const missing = await readiness();
      const told = notes();
      const body = { ready: missing.length === 0, missing, ...(told.length === 0 ? {} : { notes: told }) };
      return json(response, missing.length === 0 ? 200 : 503, body);
    }
    response.writeHead(404).end();
  };
  const server = http.createServer((request, response) => {
    // An unhandled rejection would end the process.
    answer(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(whyNotListening('METRICS_PORT', { host, port }, error)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function json(response: http.ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(`${JSON.stringify(body, null, 2)}\n`);
}
