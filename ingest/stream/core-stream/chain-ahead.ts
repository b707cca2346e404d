import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { compare, MOST_AHEAD, type SlotTime, type Verdict } from '../../../runtime/rpc/same-chain.ts';
import type { Gap } from '../../history/gap.ts';

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
/** One that goes on so far ahead may be of another chain, or of one that began anew: who was away has to be told from it. */
const MOST_AHEAD_SLOTS = 1_000n;

/** How far the log is, and where ahead of it the stream is known to be of the same chain. */
export interface Reached {
  /** The last released slot of all, also where the next is to be a new beginning. */
  slot: bigint | null;
  sameAt: bigint | null;
}

/** Where a beginning is so far ahead of the log that it has to be known to be of the same chain. */
export function aheadOf(
  slot: bigint,
  time: number | null,
  { slot: reached, sameAt }: Reached,
): SlotTime | null {
  if (reached === null || slot <= reached + MOST_AHEAD_SLOTS) return null;
  const isKnown = sameAt !== null && slot >= sameAt && slot <= sameAt + MOST_AHEAD_SLOTS;
  return isKnown ? null : { slot, time };
}

/** Likewise, where what is behind a hole is. */
export const farBehind = (
  { fromSlot, toSlot, toTime }: Gap,
  { sameAt }: Pick<Reached, 'sameAt'>,
): SlotTime | null => aheadOf(toSlot, toTime, { slot: fromSlot, sameAt });

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
