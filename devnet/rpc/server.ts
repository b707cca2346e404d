import http from 'node:http';
import type { Ledger } from '../chain/ledger.ts';
import { METHODS, RpcFault } from './methods.ts';

/** What a test may do to the node. */
export interface RpcFaults {
  /** The node says that it is this many slots behind. */
  lag(slots: number): void;
  /** `refuse` closes connections, `busy` answers 503, `hang` answers nothing. */
  down(how: 'refuse' | 'busy' | 'hang' | null): void;
}

export interface RpcServer {
  url: string;
  faults: RpcFaults;
  close(): Promise<void>;
}

export interface RpcOptions {
  ledger: Ledger;
  host?: string;
  port: number;
  /** Whether getTransaction tells the index in the block, as newer nodes do. */
  withIndex?: boolean;
}

const MAX_BODY = 1_000_000;

interface Request {
  jsonrpc: string;
  id: unknown;
  method: string;
  params?: unknown[];
}

/** Serves the chain over JSON-RPC. */
export async function serveRpc(options: RpcOptions): Promise<RpcServer> {
  const { host = '127.0.0.1' } = options;
  let behind = 0n;
  let down: 'refuse' | 'busy' | 'hang' | null = null;
  const context = { ledger: options.ledger, behind: () => behind, withIndex: options.withIndex ?? true };

  const answer = ({ id, method, params = [] }: Request): object => {
    try {
      const run = METHODS[method];
      if (run === undefined) throw new RpcFault(-32601, 'Method not found');
      return { jsonrpc: '2.0', id, result: run(params, context) };
    } catch (error) {
      const code = error instanceof RpcFault ? error.code : -32603;
      return { jsonrpc: '2.0', id, error: { code, message: (error as Error).message } };
    }
  };

  const server = http.createServer(async (request, response) => {
    if (down === 'refuse') return void request.socket.destroy();
    if (down === 'hang') return;
    if (down === 'busy') return void response.writeHead(503).end('busy');
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      size += (chunk as Buffer).length;
      if (size > MAX_BODY) return void response.writeHead(413).end();
      chunks.push(chunk as Buffer);
    }
    response.setHeader('content-type', 'application/json');
    try {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Request | Request[];
      response.end(JSON.stringify(Array.isArray(body) ? body.map(answer) : answer(body)));
    } catch {
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }),
      );
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    url: `http://${host}:${port}`,
    faults: {
      lag: (slots) => {
        behind = BigInt(slots);
      },
      down: (how) => {
        down = how;
        if (how !== null) server.closeIdleConnections();
      },
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
