import { pause } from '../process/lifecycle.ts';
import { asksForLess, RpcError } from './error.ts';
import type { RpcNode } from './node.ts';

/** Nodes that stand in for one another. */
export interface RpcPool {
  /**
   * Asks the first node that is well, then others as long as that may help. A node that wants to be left alone is not
   * asked until then, even where it is the only one; the call waits for no longer than the limit.
   * @throws RpcError the last failure; where that is `unreachable`, the first refusal of too many at a time, if any
   */
  ask<T>(question: (node: RpcNode) => Promise<T>): Promise<T>;
  nodes(): readonly RpcNode[];
}

/** Tries of one question while nodes are behind or answer nonsense. */
const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 40;
const SHORTEST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
const never = new AbortController().signal;

interface Health {
  failures: number;
  restsUntil: number;
}

/**
 * @param nodes in the order of preference.
 * @param limitMs how long a call waits for a node that wants to be left alone.
 */
export function createRpcPool(nodes: readonly RpcNode[], limitMs: number): RpcPool {
  const healths = new Map<RpcNode, Health>(nodes.map((node) => [node, { failures: 0, restsUntil: 0 }]));
  const healthOf = (node: RpcNode) => healths.get(node) as Health;

  const rest = (node: RpcNode) => {
    const health = healthOf(node);
    const restMs = Math.min(SHORTEST_REST_MS * 2 ** Math.min(health.failures, 8), LONGEST_REST_MS);
    health.failures += 1;
    health.restsUntil = performance.now() + restMs;
  };

  const isWell = (node: RpcNode) => node.waitMs() === 0 && healthOf(node).restsUntil <= performance.now();

  /** Nodes that may be asked now come first, then those asked least for this question, then those that do not rest. */
  const choose = (left: readonly RpcNode[], asked: readonly RpcNode[]): RpcNode => {
    const now = performance.now();
    const order = (node: RpcNode) => [
      node.waitMs() > 0 ? 1 : 0,
      asked.filter((one) => one === node).length,
      healthOf(node).restsUntil > now ? 1 : 0,
    ];
    return left.toSorted((a, b) => {
      const [first, second] = [order(a), order(b)];
      const at = first.findIndex((value, place) => value !== second[place]);
      return at === -1 ? 0 : (first[at] as number) - (second[at] as number);
    })[0] as RpcNode;
  };

  return {
    nodes: () => nodes,
    ask: async (question) => {
      const until = performance.now() + limitMs;
      const asked: RpcNode[] = [];
      /** The nodes that may still have another answer to this question. */
      let left = nodes;
      let failure: RpcError | null = null;
      let less: RpcError | null = null;
      const last = (error: RpcError) => (error.kind === 'unreachable' && less !== null ? less : error);
      for (;;) {
        const node = choose(left, asked);
        const wait = node.waitMs();
        if (wait > 0 && performance.now() + wait > until) throw failure ?? leftAlone(wait);
        if (wait > 0) await pause(wait, never);
        try {
          const answer = await question(node);
          healthOf(node).failures = 0;
          return answer;
        } catch (error) {
          if (!(error instanceof RpcError) || error.retryOn === 'none') throw error;
          failure = error;
          if (less === null && asksForLess(error)) less = error;
          asked.push(node);
          // A node that refuses a question is well.
          if (error.kind !== 'refused') rest(node);
          const busy = node.waitMs() > 0;
          if (error.retryOn !== 'anyNode' && !busy) left = left.filter((one) => one !== node);
          if (error.retryOn === 'anotherHealthy') left = left.filter(isWell);
          const others = left.some((other) => !asked.includes(other));
          if (left.length === 0) throw last(error);
          if (!others && !busy && (asked.length >= MOST_TRIES || performance.now() > until))
            throw last(error);
          if (!others && !busy) await pause(FIRST_PAUSE_MS * 2 ** Math.min(asked.length - 1, 3), never);
        }
      }
    },
  };
}

const leftAlone = (waitMs: number) =>
  new RpcError('unreachable', `the node asks to be left alone for ${Math.ceil(waitMs / 1000)} s`);
