import { upstreamWords } from '../../runtime/outside/upstream.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import { RpcError } from '../../runtime/rpc/error.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { compare, type SlotTime, type Verdict } from '../../runtime/rpc/same-chain.ts';

export interface FarAheadOptions {
  rpc: Pick<Rpc, 'getBlockTime' | 'getSlot'>;
  /** The slot that the log ends at. */
  reached: bigint;
  signal: AbortSignal;
}

/** A node that is a little behind the stream has the slot by then. */
const TRIES = 8;
const AGAIN_MS = 500;

/**
 * Why nothing is taken of a stream that goes on far ahead of the log, in words that may be served; null where a node
 * says that it is the chain of SOLANA_RPC_URL, as after weeks in which nothing was streamed. Another chain's states would
 * count as the newest, and its slots bar the way back.
 */
export async function notTakenAhead(ahead: SlotTime, options: FarAheadOptions): Promise<string | null> {
  const at = `the provider is at slot ${ahead.slot}, the log at ${options.reached}`;
  try {
    const verdict = await verdictOf(ahead, options);
    return verdict === 'same' ? null : `${at}: ${WORDS[verdict]}`;
  } catch (error) {
    return `${at}: whether that is the same chain SOLANA_RPC_URL does not tell (${upstreamWords(error)})`;
  }
}

const WORDS: Record<Exclude<Verdict, 'same'>, string> = {
  other: 'it follows another chain than SOLANA_RPC_URL',
  behind: 'SOLANA_RPC_URL is far behind it, or of another chain',
  unknown: 'whether that is the same chain SOLANA_RPC_URL does not tell yet',
};

async function verdictOf(ahead: SlotTime, { rpc, signal }: FarAheadOptions): Promise<Verdict> {
  for (let tries = 1; ; tries += 1) {
    const verdict = await compare(rpc, ahead);
    if (verdict !== 'unknown') return verdict;
    // Of slots without times no more can be said than that the node is as far.
    if (ahead.time === null || !(await tellsTimes(rpc))) return 'same';
    if (tries === TRIES || signal.aborted) return verdict;
    await pause(AGAIN_MS, signal);
  }
}

async function tellsTimes(rpc: FarAheadOptions['rpc']): Promise<boolean> {
  try {
    return (await rpc.getBlockTime(await rpc.getSlot({ commitment: 'finalized' }))) !== null;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return false;
    throw error;
  }
}
