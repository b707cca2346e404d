import { RpcError } from '../../runtime/rpc/error.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { Slots } from './slots/machine.ts';

export interface SameChainOptions {
  rpc: Rpc;
  /** What the stream has released, with its block times. */
  slots: Pick<Slots, 'last' | 'timeOf'>;
  /** The node is of another chain, or by now of the same. */
  onOther(isOther: boolean): void;
}

/** Nodes round a time that they made of votes, and differ by no more. */
const MOST_APART_S = 60;
/** An epoch: no stream that goes on is so far behind its chain. */
const MOST_AHEAD = 432_000n;
/** Where nothing is known either way it is asked again so much later. */
const AGAIN_MS = 30_000;
/** One that was of another chain may be named in its place again. */
const OTHER_MS = 5_000;

type Verdict = 'same' | 'other' | 'unknown';

/**
 * The same node as long as nothing says that it is of another chain than the stream. A test network has a program of
 * the same address, further slots, and no transaction of ours: its word would close accounts, and gaps.
 */
export function createSameChain({ rpc, slots, onOther }: SameChainOptions): Rpc {
  let verdict: Verdict = 'unknown';
  let holdsUntil = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const compare = async (): Promise<Verdict> => {
    const { last } = slots;
    if (last === null) return 'unknown';
    const told = slots.timeOf(last);
    const time = told === null ? null : await rpc.getBlockTime(last).catch(() => null);
    if (time !== null && told !== null) return Math.abs(time - told) <= MOST_APART_S ? 'same' : 'other';
    return (await rpc.getSlot()) > last + MOST_AHEAD ? 'other' : 'unknown';
  };
  const look = async () => {
    // Who does not answer says so where he is asked for more.
    const now = await compare().catch((): Verdict => 'unknown');
    if ((now === 'other') !== (verdict === 'other')) onOther(now === 'other');
    verdict = now;
    holdsUntil = performance.now() + (now === 'other' ? OTHER_MS : AGAIN_MS);
  };
  const checked = async () => {
    if (verdict !== 'same' && performance.now() >= holdsUntil && slots.last !== null) {
      asking ??= look().finally(() => {
        asking = null;
      });
      await asking;
    }
    if (verdict === 'other')
      throw new RpcError('unreachable', 'SOLANA_RPC_URL is of another chain than the stream', {
        again: 'no',
      });
  };
  const after =
    <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await checked();
      return ask(...given);
    };
  return {
    getAccountInfo: after(rpc.getAccountInfo),
    getMultipleAccounts: after(rpc.getMultipleAccounts),
    getProgramAccounts: after(rpc.getProgramAccounts),
    getSignaturesForAddress: after(rpc.getSignaturesForAddress),
    getTransaction: after(rpc.getTransaction),
    getSlot: after(rpc.getSlot),
    getBlockTime: after(rpc.getBlockTime),
    getFirstAvailableBlock: after(rpc.getFirstAvailableBlock),
  };
}
