import { absent, figure } from '../../schemas/figure.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { timeOfMillis } from '../../schemas/units.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { View } from '../latest/view.ts';
import { streamPart } from './stream.ts';

/** How far the index is: the lowest applied marker over all partitions, and how far back it is whole. */
export function indexer(view: View): StatusResponse['indexer'] {
  const told = streamPart(view);
  const letters = view.single('deadLetters');
  const state = view.state();
  const { applied } = state;
  // 0 at first: partitions are declared before anything of them is applied.
  const updatedAt = applied.applied_at === '0' ? null : timeOfMillis(applied.applied_at);
  return {
    lastProcessedSignature: applied.last_signature,
    lastProcessedSlot: applied.slot === '0' ? null : applied.slot,
    lastProcessedBlockTime: state.markerTime,
    cursorUpdatedAt: updatedAt,
    ...told,
    history: {
      // While no stream is connected, what happens on the chain is not read yet.
      complete: state.historyReason === null && told.stream.connected,
      fromSlot: wholeFrom(state),
      source: state.gaps.length > 0 ? 'rpc' : 'stream',
      ...heldOpen(state),
    },
    verifiedSlot: applied.verified_slot,
    openGaps: state.openGaps.length,
    incompleteTransactions: incompleteTransactions(state, updatedAt),
    deadLetters: figure(Number(letters), 'indexer:dead letters', updatedAt),
  };
}

/** The reason, given only where it takes more than time to complete the history. */
function heldOpen({ openGaps, historyReason, isSettled }: IndexState): { reason?: string } {
  const held =
    !isSettled || openGaps.some(({ unread, first_slot: first }) => unread !== null || first !== null);
  return held && historyReason !== null ? { reason: historyReason } : {};
}

function incompleteTransactions(state: IndexState, updatedAt: string | null) {
  const source = 'indexer:incomplete transactions';
  if (!state.isSettled && state.historyReason !== null) return absent(source, state.historyReason);
  return figure(state.incomplete.count, source, updatedAt);
}

/** The first slot from which on nothing is missing; null before anything is indexed, and where it changes too fast. */
function wholeFrom(state: IndexState): string | null {
  if (!state.isSettled) return null;
  if (state.gaps.length === 0 && state.applied.slot === '0') return null;
  let from = BigInt(state.gaps[0]?.from_slot ?? 0);
  const higher = (slot: bigint) => {
    if (slot > from) from = slot;
  };
  for (const gap of state.openGaps) higher(BigInt(gap.to_slot) + 1n);
  for (const { begin } of state.gaps) if (begin !== null) higher(BigInt(begin));
  return from.toString();
}
