import http from 'node:http';
import type { Ledger } from '../chain/ledger.ts';
import { answering } from '../http/answering.ts';
import { RpcFault } from './fault.ts';
import { firstKept, POLITE, type RpcManners, type Spell } from './manners.ts';
import { METHODS, type MethodContext } from './methods.ts';
import { createPast } from './past.ts';

/** What a test may do to the node. */
export interface RpcFaults {
  /** The node answers as of this many slots ago. */
  lag(slots: number): void;
  /** `refuse` closes connections, `busy` answers 503, `hang` never answers; null: well again. */
  down(how: 'refuse' | 'busy' | 'hang' | null): void;
  /** Replaces these manners; counts of affected answers begin anew. */
  behave(manners: Partial<RpcManners>): void;
}

export interface RpcServer {
  url: string;
  faults: RpcFaults;
  /** How many requests came for a method; those refused by `limited` count under `429`. */
  asked(method: string): number;
  close(): Promise<void>;
}

export interface RpcOptions {
  ledger: Ledger;
  host?: string;
  port: number;
  /** Whether getTransaction answers the index in the block, as newer nodes do. */
  withIndex?: boolean;
  manners?: Partial<RpcManners>;
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
  const { ledger, withIndex = true } = options;
  let down: 'refuse' | 'busy' | 'hang' | null = null;
  let manners: RpcManners = { ...POLITE, ...options.manners };
  let behavedAt = performance.now();
  let turn = 0;
  let replies = 0;
  const past = createPast(ledger);
  const counts = new Map<string, number>();
  let strikes = new Map<Spell, Map<string, number>>();

  const count = (method: string) => counts.set(method, (counts.get(method) ?? 0) + 1);
  const struck = (spell: Spell | null, signature: string) => {
    if (spell === null || !spell.affects(signature)) return false;
    const of = strikes.get(spell) ?? new Map<string, number>();
    strikes.set(spell, of);
    const before = of.get(signature) ?? 0;
    of.set(signature, before + 1);
    return before < spell.times;
  };
  /** The node of the pool whose turn it is. */
  const nextNode = (): MethodContext => {
    const behind = BigInt(manners.pool[turn % manners.pool.length] ?? 0);
    turn += 1;
    const firstBlock = firstKept(manners, ledger.tip().slot);
    return { ledger, past, manners: { ...manners, firstBlock }, behind, struck, withIndex };
  };
  /** For how many more milliseconds requests are refused; 0 or less: none. */
  const refusedFor = (): number => {
    if (manners.limited === null) return 0;
    const { everyMs, forMs } = manners.limited;
    return forMs - ((performance.now() - behavedAt) % everyMs);
  };

  const answer = ({ id, method, params = [] }: Request, context: MethodContext): object => {
    count(method);
    try {
      const run = METHODS[method];
      if (run === undefined || context.manners.lacks.includes(method))
        throw new RpcFault(-32601, 'Method not found');
      return { jsonrpc: '2.0', id, result: run(params, context) };
    } catch (error) {
      const code = error instanceof RpcFault ? error.code : -32603;
      return { jsonrpc: '2.0', id, error: { code, message: (error as Error).message } };
    }
  };
  const reply = (response: http.ServerResponse, body: object) => {
    const text = JSON.stringify(body);
    replies += 1;
    const cut = manners.cutOneIn > 0 && replies % manners.cutOneIn === 0;
    response.end(cut ? text.slice(0, Math.ceil(text.length / 2)) : text);
  };

  const server = http.createServer(
    answering(async (request, response) => {
      if (down === 'refuse') return void request.socket.destroy();
      if (down === 'hang') return;
      if (down === 'busy') return void response.writeHead(503).end('busy');
      const waitMs = refusedFor();
      if (waitMs > 0) {
        count('429');
        response.setHeader('retry-after', String(Math.ceil(waitMs / 1000)));
        return void response.writeHead(429).end('Too many requests');
      }
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
        const node = nextNode();
        if (node.manners.scans === 'silent' && 'method' in body && body.method === 'getProgramAccounts')
          return void response.writeHead(504).end('<html>504 Gateway Time-out</html>');
        reply(response, Array.isArray(body) ? body.map((one) => answer(one, node)) : answer(body, node));
      } catch {
        reply(response, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
      }
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    url: `http://${host}:${port}`,
    faults: {
      lag: (slots) => {
        manners = { ...manners, pool: [slots] };
      },
      down: (how) => {
        down = how;
        if (how !== null) server.closeIdleConnections();
      },
      behave: (changed) => {
        manners = { ...manners, ...changed };
        behavedAt = performance.now();
        strikes = new Map();
        replies = 0;
      },
    },
    asked: (method) => counts.get(method) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
