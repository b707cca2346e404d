import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { chainVerdict, MOST_AHEAD, type SlotTime, type Verdict } from '../../../runtime/rpc/same-chain.ts';
import type { Gap } from '../../history/gap.ts';

type Node = Pick<Rpc, 'getBlockTime' | 'getSlot'>;

export interface FarAheadOptions {
  rpc: { alone: readonly Node[] };
  /** The slot that the log ends at. */
  reached: bigint;
  /** Why the stream was refused the last time; it stays so where no node answers. */
  refused: string | null;
  signal: AbortSignal;
  /** A node that does not answer within this time has no say. */
  patienceMs?: number;
}

const PATIENCE_MS = 5_000;
/**
 * A stream that goes on further ahead of the log may be of another chain, or of one that began anew. That has to be
 * told from ingest having merely been away.
 */
const MOST_AHEAD_SLOTS = 1_000n;

/** How far the log is, and where ahead of it the stream is known to be of the same chain. */
export interface Reached {
  /** The last released slot, kept also where the next one is to be a new beginning. */
  slot: bigint | null;
  sameAt: bigint | null;
}

/**
 * The slot and its time, where it is so far ahead of the log that it has to be proved to be of the same chain; else
 * null.
 */
export function farAheadOfLog(
  slot: bigint,
  time: number | null,
  { slot: reached, sameAt }: Reached,
): SlotTime | null {
  if (reached === null || slot <= reached + MOST_AHEAD_SLOTS) return null;
  const isKnown = sameAt !== null && slot >= sameAt && slot <= sameAt + MOST_AHEAD_SLOTS;
  return isKnown ? null : { slot, time };
}

/** Likewise for the slot at which a stream goes on behind a hole. */
export const farAheadAfterHole = (
  { fromSlot, toSlot, toTime }: Gap,
  { sameAt }: Pick<Reached, 'sameAt'>,
): SlotTime | null => farAheadOfLog(toSlot, toTime, { slot: fromSlot, sameAt });

/**
 * Why nothing is taken of a stream that goes on far ahead of the log, in words that may be served: all nodes that
 * answer say that it is of another chain, or are days behind it. Its states would count as the newest, and its slots
 * would bar the way back. Null where a node says otherwise, and where none answers, unless the stream was refused
 * before: an ingest that was away for days goes on, with or without nodes. Each node is asked by itself, for one may be
 * of another chain than all others.
 */
export async function whyAheadIsRefused(ahead: SlotTime, options: FarAheadOptions): Promise<string | null> {
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

/** A node that lags by less than MOST_AHEAD does not speak against the stream. */
async function verdictOf(node: Node, ahead: SlotTime): Promise<Verdict> {
  const verdict = await chainVerdict(node, ahead);
  if (verdict !== 'behind') return verdict;
  return (await node.getSlot()) + MOST_AHEAD < ahead.slot ? 'behind' : 'unknown';
}
