import { pause } from '../../runtime/process/lifecycle.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { compare, MOST_AHEAD, type SlotTime, type Verdict } from '../../runtime/rpc/same-chain.ts';

type Node = Pick<Rpc, 'getBlockTime' | 'getSlot'>;

export interface FarAheadOptions {
  rpc: { alone: readonly Node[] };
  /** The slot that the log ends at. */
  reached: bigint;
  /** Why it was refused the last time: silence takes nothing of that back. */
  refused: string | null;
  signal: AbortSignal;
  /** Who does not answer within that says nothing. */
  patienceMs?: number;
}

const PATIENCE_MS = 5_000;

/**
 * Why nothing is taken of a stream that goes on far ahead of the log, in words that may be served: every node that answers
 * is of another chain, whose states would count as the newest and whose slots would bar the way back. Null where one is
 * not, and where none answers that has said so before: whoever was away for days goes on, with or without them. Each is asked by itself, for one
 * may be of another chain than all others.
 */
export async function notTakenAhead(ahead: SlotTime, options: FarAheadOptions): Promise<string | null> {
  const { rpc, reached, refused, signal, patienceMs = PATIENCE_MS } = options;
  const silence = pause(patienceMs, signal).then(() => null);
  const words = await Promise.all(
    rpc.alone.map((node) => Promise.race([verdictOf(node, ahead).catch(() => null), silence])),
  );
  const told = words.filter((word) => word !== null);
  if (told.length === 0) return refused;
  if (told.some((word) => word !== 'other' && word !== 'behind')) return null;
  const why = told.includes('other')
    ? 'it follows another chain than SOLANA_RPC_URL'
    : 'SOLANA_RPC_URL is days behind it, or of another chain';
  return `the provider is at slot ${ahead.slot}, the log at ${reached}: ${why}`;
}

/** One that lags is of the same chain for all that is known. */
async function verdictOf(node: Node, ahead: SlotTime): Promise<Verdict> {
  const verdict = await compare(node, ahead);
  if (verdict !== 'behind') return verdict;
  return (await node.getSlot()) + MOST_AHEAD < ahead.slot ? 'behind' : 'unknown';
}
