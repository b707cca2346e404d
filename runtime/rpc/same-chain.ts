import { RetryableError } from '../errors.ts';
import { RpcError } from './error.ts';
import type { NodeRpc, Rpc, RpcNodes } from './rpc.ts';

/** A recent slot of the chain that is indexed, and its block time. */
export interface SlotTime {
  slot: bigint;
  time: number | null;
}

export interface SameChainOptions {
  /** The slot to compare nodes by; null while nothing of the chain is known: no node is left out then. */
  place(): SlotTime | null | Promise<SlotTime | null>;
  /** Called where it changes which of the addresses, counted from 1, are of another chain. */
  onOthers(others: readonly number[], addresses: number): void;
}

/** Nodes compute block times from votes and round them: two of the same chain differ by no more than this. */
export const MOST_APART_S = 60;
/** An epoch: no stream that runs is so far behind its chain. */
export const MOST_AHEAD = 432_000n;
/** No node of the chain that is well is so far behind the stream; one of another chain may be. */
const MOST_BEHIND = 1_000n;
/** How long the verdict `unknown` holds. */
const AGAIN_MS = 30_000;
/** How long any verdict holds while the slot to compare has no time: one with a time may come at any moment. */
const UNTIMED_MS = 1_000;
/** How long `same` holds: an address may come to lead to another node. */
const SAME_MS = 10 * 60_000;
/** How long `other` and `behind` hold: the address may soon lead to a node of our chain again. */
const OTHER_MS = 5_000;

export type Verdict = 'same' | 'other' | 'behind' | 'unknown';

interface Look {
  verdict: Verdict;
  holdsUntil: number;
  looking: Promise<void> | null;
}

/**
 * Leaves out the nodes of another chain than the indexed one. A test network has a program of the same address, other
 * slots, and no transaction of ours: after its answers accounts would count as closed, and gaps as filled.
 */
export function onlySameChain(rpc: RpcNodes, { place, onOthers }: SameChainOptions): Rpc {
  const looks = new Map<number, Look>();
  const others = () =>
    [...looks]
      .filter(([, { verdict }]) => verdict === 'other')
      .map(([number]) => number)
      .sort((one, another) => one - another);

  const look = async (node: NodeRpc, at: Look) => {
    // A store that does not answer fails visibly where it is asked for more.
    const known = await askedFor(place).catch(() => null);
    if (known === null) return;
    const found = await chainVerdict(node, known).catch((): Verdict => 'unknown');
    // Where another chain has no slot of that number its node looks like one that lags: only `same` clears it.
    const verdict = at.verdict === 'other' && found !== 'same' ? 'other' : found;
    const isNews = (verdict === 'other') !== (at.verdict === 'other');
    at.verdict = verdict;
    at.holdsUntil = performance.now() + (known.time === null ? UNTIMED_MS : HOLDS_MS[verdict]);
    if (isNews) onOthers(others(), node.of);
  };
  return rpc.checked(async (node) => {
    const at = looks.get(node.number) ?? { verdict: 'unknown', holdsUntil: 0, looking: null };
    looks.set(node.number, at);
    if (performance.now() >= at.holdsUntil) {
      at.looking ??= look(node, at).finally(() => {
        at.looking = null;
      });
      await at.looking;
    }
    if (at.verdict === 'other') {
      const words = otherChainWarning([node.number], node.of);
      throw new RpcError('unreachable', words, { cause: new RetryableError(words) });
    }
    if (at.verdict === 'behind')
      throw new RpcError('behind', `a node is more than ${MOST_BEHIND} slots behind`, {
        retryOn: 'anotherNode',
      });
  });
}

const askedFor = async (place: SameChainOptions['place']) => place();

const HOLDS_MS: Record<Verdict, number> = {
  same: SAME_MS,
  other: OTHER_MS,
  behind: OTHER_MS,
  unknown: AGAIN_MS,
};

/** @throws RpcError where the node does not answer */
export async function chainVerdict(
  node: Pick<Rpc, 'getBlockTime' | 'getSlot'>,
  { slot, time }: SlotTime,
): Promise<Verdict> {
  const told = time === null ? null : await node.getBlockTime(slot).catch(unlessSilent);
  if (told !== null && time !== null) return Math.abs(told - time) <= MOST_APART_S ? 'same' : 'other';
  const tip = await node.getSlot();
  if (tip > slot + MOST_AHEAD) return 'other';
  return tip + MOST_BEHIND < slot ? 'behind' : 'unknown';
}

function unlessSilent(error: unknown): null {
  if (error instanceof RpcError && error.kind === 'unreachable') throw error;
  return null;
}

/** Says which addresses of SOLANA_RPC_URL are not asked, by number: it may be served, so it holds no part of any. */
export function otherChainWarning(others: readonly number[], addresses: number): string {
  const words = 'of another chain than the stream: nothing is read of';
  if (addresses === 1) return `SOLANA_RPC_URL is ${words} it`;
  const of = `of the ${addresses} in SOLANA_RPC_URL`;
  return others.length === 1
    ? `address ${others[0]} ${of} is ${words} it`
    : `addresses ${others.join(', ')} ${of} are ${words} them`;
}
