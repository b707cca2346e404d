import { upstreamWords } from '../../runtime/outside/upstream.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import { RpcError } from '../../runtime/rpc/error.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { compare, type SlotTime, type Verdict } from '../../runtime/rpc/same-chain.ts';

type Node = Pick<Rpc, 'getBlockTime' | 'getSlot'>;

export interface FarAheadOptions {
  rpc: { alone: readonly Node[] };
  /** The slot that the log ends at. */
  reached: bigint;
  signal: AbortSignal;
}

/** `as-far`: it tells no times, and has come there. */
type Word = Verdict | 'as-far';

/** A node that is a little behind the stream has the slot by then. */
const TRIES = 8;
const AGAIN_MS = 500;

/**
 * Why nothing is taken of a stream that goes on far ahead of the log, in words that may be served; null where a node
 * says that it is the chain of SOLANA_RPC_URL, as after weeks in which nothing was streamed. Another chain's states would
 * count as the newest, and its slots bar the way back. Each node is asked by itself: one may be of another chain, and its
 * word is no reason not to hear the others.
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

/** @throws RpcError where no node answers */
async function verdictOf(ahead: SlotTime, { rpc, signal }: FarAheadOptions): Promise<Verdict> {
  const decided = new AbortController();
  const asked = rpc.alone.map((node) => wordOf(node, ahead, AbortSignal.any([signal, decided.signal])));
  const anySame = Promise.any(asked.map(mustBeSame)).then(
    () => true,
    () => false,
  );
  if (await anySame) {
    decided.abort();
    return 'same';
  }
  const answers = await Promise.allSettled(asked);
  const words = new Set(answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])));
  // None of them answered: this throws what the first one failed with.
  if (words.size === 0) await asked[0];
  if (words.has('as-far')) return words.has('other') ? 'unknown' : 'same';
  return (['unknown', 'behind'] as const).find((word) => words.has(word)) ?? 'other';
}

async function mustBeSame(word: Promise<Word>): Promise<void> {
  if ((await word) !== 'same') throw new Error('not known to be the same');
}

async function wordOf(node: Node, ahead: SlotTime, signal: AbortSignal): Promise<Word> {
  for (let tries = 1; ; tries += 1) {
    const verdict = await compare(node, ahead);
    if (verdict !== 'unknown') return verdict;
    // Of slots without times no more can be said than that the node is as far.
    if (ahead.time === null || !(await tellsTimes(node))) return 'as-far';
    if (tries === TRIES || signal.aborted) return verdict;
    await pause(AGAIN_MS, signal);
  }
}

async function tellsTimes(node: Node): Promise<boolean> {
  try {
    return (await node.getBlockTime(await node.getSlot({ commitment: 'finalized' }))) !== null;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return false;
    throw error;
  }
}
