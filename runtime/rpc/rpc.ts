import { rpcOver } from './methods.ts';
import { createRpcNode, type RpcNode } from './node.ts';
import { createRpcPool, type RpcPool } from './pool.ts';
import type { NodeRpc, RpcNodes, RpcOptions } from './port.ts';

export type { Commitment, NodeRpc, NodeWaits, ReadOptions, Rpc, RpcNodes } from './port.ts';

/** @param urls of JSON-RPC nodes, the preferred ones first; their credentials never show in an error. */
export function createRpc(urls: string | readonly string[], options: RpcOptions): RpcNodes {
  const { timeoutMs = 15_000, waits = new Map() } = options;
  const nodes = [urls].flat().map((url) => createRpcNode(url, timeoutMs, waits));
  const pool = createRpcPool(nodes, timeoutMs);
  const alone = nodes.map((node, at) => ({
    ...rpcOver(createRpcPool([node], timeoutMs), timeoutMs, options),
    ...{ number: at + 1, of: nodes.length },
  }));
  return {
    ...rpcOver(pool, timeoutMs, options),
    alone,
    checked: (check) =>
      rpcOver(
        passing(pool, (node) => check(alone[nodes.indexOf(node)] as NodeRpc)),
        timeoutMs,
        options,
      ),
  };
}

/** The pool with a check before each question; its `nodes` leave out those that failed their last check. */
function passing(pool: RpcPool, check: (node: RpcNode) => Promise<void>): RpcPool {
  const unfit = new Set<RpcNode>();
  return {
    nodes: () => pool.nodes().filter((node) => !unfit.has(node)),
    ask: (question) =>
      pool.ask(async (node) => {
        try {
          await check(node);
        } catch (error) {
          unfit.add(node);
          throw error;
        }
        unfit.delete(node);
        return question(node);
      }),
  };
}
