import { pause } from '../../runtime/process/lifecycle.ts';
import { HistoryUnavailableError } from '../history/gap.ts';
import {
  assertNotOnChain,
  differenceOf,
  listWindow,
  type PlacedTransaction,
  type WindowOptions,
} from './verify-window.ts';

export interface RoundsOptions extends WindowOptions {
  /** Between one round and the next. */
  apartMs: number;
}

/**
 * A strike is for good, and behind one address each request may come to another node: those for the list and for the
 * transaction to a node with a hole, the check for a hole to a whole one. That happens by chance, and not in each of so
 * many rounds.
 */
const ROUNDS = 3;

/**
 * Throws unless the chain has none of them in any round, with everything asked anew each time.
 * @param listed how many transactions were listed of their window, without them
 * @throws RpcError, HistoryUnavailableError where any answer says otherwise once
 */
export async function assertNotOnChainInEveryRound(
  ghosts: readonly PlacedTransaction[],
  listed: number,
  options: RoundsOptions,
): Promise<void> {
  if (ghosts.length === 0) return;
  await assertNotOnChain(ghosts, listed, options);
  for (let round = 2; round <= ROUNDS; round += 1) {
    await pause(options.apartMs, options.signal);
    const again = await listWindow(options);
    if (differenceOf(again, ghosts).ghosts.length < ghosts.length)
      throw new HistoryUnavailableError('the list has a transaction that it lacked a moment ago');
    await assertNotOnChain(ghosts, listed, options);
  }
}
