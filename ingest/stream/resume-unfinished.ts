import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import type { Gap } from '../history/gap.ts';
import type { GapCloser } from '../history/gap-closer.ts';
import type { CutLogsReader } from './cut-logs.ts';
import type { FollowedStates } from './followed-stream/followed.ts';
import type { FollowedAddresses } from './following/addresses.ts';
import type { HistoryBegin, StreamStore } from './stored-state.ts';

const LOOK_AGAIN_MS = 250;
const LOOK_EVERY_MS = 60_000;

export interface ResumeOptions {
  store: StreamStore;
  /** Where the log ended when the stream began. */
  position: bigint | null;
  following: FollowedAddresses;
  followed: Pick<FollowedStates, 'addLate' | 'addEarlierLosses'>;
  gaps: GapCloser;
  /** The program has no transaction before this slot. */
  startSlot: bigint;
  openGap(gap: Gap): void;
  reread: CutLogsReader;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Gaps of slots that earlier runs left out of history: because PROGRAM_START_SLOT was later then than now, or because a
 * stored transaction older than those slots shows that it was set too late.
 */
async function unreadBefore(
  { firstSlot: begun, clipped }: HistoryBegin,
  startSlot: bigint,
  store: StreamStore,
): Promise<Gap[]> {
  if (begun === null) return [];
  const gaps: Gap[] = [];
  for (const { fromSlot, firstSlot } of clipped)
    if (firstSlot > startSlot || (await store.hasBefore(fromSlot)))
      gaps.push({ fromSlot, toSlot: firstSlot - 1n, toTime: null });
  return begun <= startSlot ? gaps : [...gaps, { fromSlot: startSlot, toSlot: begun - 1n, toTime: null }];
}

/**
 * Whether the store has all history from `startSlot` on. False until it has applied the log up to `position`, where the
 * log ended: it may be reading the whole log again.
 */
export async function isHistoryRead(
  store: StreamStore,
  { startSlot, position }: { startSlot: bigint; position: bigint | null },
): Promise<boolean> {
  if (store.applied !== undefined && position !== null && ((await store.applied()) ?? -1n) < position)
    return false;
  const begin = await store.historyBegin();
  if (begin.firstSlot === null || (await unreadBefore(begin, startSlot, store)).length > 0) return false;
  return store.isWhole();
}

/**
 * Takes up what an earlier run left: gaps, transactions with cut logs, and accounts that were in the log but not
 * applied when this one began. Called once the stream has begun, so that a gap which this run opens in place of an
 * older one is known first.
 */
export async function resumeUnfinished(options: ResumeOptions): Promise<void> {
  const { store, position, following, followed, gaps, reread, signal } = options;
  const { applied } = store;
  if (applied !== undefined && position !== null) {
    const caughtUp = async () => ((await applied()) ?? -1n) >= position;
    while (!signal.aborted && !(await retryUntilDone('reading what is applied', caughtUp, options))) {
      await pause(LOOK_AGAIN_MS, signal);
    }
    const known =
      (await retryUntilDone('reading known accounts', () => store.knownAccounts(), options)) ?? [];
    followed.addLate(
      known
        .filter(({ address, expected, named }) => following.add(address, expected, named))
        .map(({ address }) => address),
    );
    void addLossesBefore(options, position);
  }
  const unread = await retryUntilDone(
    'reading where history begins',
    async () => unreadBefore(await store.historyBegin(), options.startSlot, store),
    options,
  );
  for (const gap of unread ?? []) options.openGap(gap);
  while (!signal.aborted) {
    // The marker is read first, so that the open gaps are at least as new as it.
    const marker = await retryUntilDone(
      'reading what is applied',
      async () => (applied === undefined ? null : ((await applied()) ?? -1n)),
      options,
    );
    for (const gap of (await retryUntilDone('reading open gaps', () => store.openGaps(), options)) ?? [])
      gaps.addStored(gap, marker);
    const waiting = gaps.waiting();
    const readTo =
      marker === null || waiting.length === 0
        ? null
        : await retryUntilDone('reading closed gaps', () => store.closedUpTo(waiting), options);
    if (marker !== null && readTo !== null) gaps.closedElsewhere(readTo, marker);
    const cut = await retryUntilDone(
      'reading incomplete transactions',
      () => store.incompleteTransactions(),
      options,
    );
    if (cut !== null) reread.addKnown(cut);
    // Repeated because a backfill opens and closes gaps too, and a transaction may prove incomplete only once it is
    // decoded.
    await pause(LOOK_EVERY_MS, signal);
  }
}

/**
 * Takes up the losses that stand in the log behind the last marker that all partitions had at the start: they are
 * applied once a later marker is.
 */
async function addLossesBefore(options: ResumeOptions, position: bigint): Promise<void> {
  const { store, followed, signal } = options;
  const isApplied = async () => ((await store.applied?.()) ?? -1n) > position;
  while (!signal.aborted && !(await retryUntilDone('reading what is applied', isApplied, options)))
    await pause(LOOK_AGAIN_MS, signal);
  const read = () => store.uncarried();
  followed.addEarlierLosses((await retryUntilDone('reading what no stream carries', read, options)) ?? []);
}
