import type { Store } from '../../clickhouse/client.ts';
import { uncarriedNow } from '../../clickhouse/queries/history/carried.ts';
import { appliedState, gapStates, openOf } from '../../clickhouse/queries/progress/index-state.ts';
import {
  closedUpTo,
  followedAccounts,
  hasTransactionBefore,
  historyBegin,
  openGaps,
  unresolvedTransactions,
} from '../../clickhouse/queries/progress/stream-store.ts';
import {
  marksAround,
  missingBetween,
  sweepsBetween,
  unsettledSweeps,
} from '../../clickhouse/queries/progress/swept-profits.ts';
import { undatedStates, waitingHours } from '../../clickhouse/queries/progress/undated-states.ts';
import { type UnreadAccount, unreadAccounts } from '../../clickhouse/queries/progress/unread-accounts.ts';
import {
  eventsOf,
  nextSlot,
  policiesOf,
  type StoredTransaction,
  signatureBehind,
  storedBetween,
  verifiedSlot,
} from '../../clickhouse/queries/progress/verification.ts';
import { listedState } from '../../clickhouse/queries/status/stream-state.ts';
import { disputedSlots } from '../../clickhouse/queries/transactions/disputed.ts';
import type { ExpectedAccount, StruckTransaction } from '../../schemas/records.ts';
import type { Gap } from '../history/gap.ts';
import type { SweepStore } from '../history/settle-profits.ts';
import type { UndatedStore } from '../history/tell-times.ts';
import type { LogPosition } from '../log/port.ts';
import type { VerificationStore } from '../verify/verify.ts';
import type { CutTransaction } from './cut-logs.ts';
import type { LostBefore } from './followed-stream/carried.ts';

export interface HistoryBegin {
  /** Null where no history was asked for yet. */
  firstSlot: bigint | null;
  /** Gaps that were read down to a later slot than their first, because history was to begin there. */
  clipped: { fromSlot: bigint; firstSlot: bigint }[];
}

export interface KnownAccount {
  address: string;
  expected: ExpectedAccount;
  /** Somebody wrote it into an account; it does not follow from the program's own addresses. */
  named?: boolean;
}

/** What the stream needs to know of what is already there. */
export interface StreamStore {
  /** The lowest last marker over all partitions of the log; null before each has one. */
  position(): Promise<LogPosition | null>;
  /**
   * The lowest marker that is applied, where the log may be ahead of what the rest of this answers from; absent
   * where what the log holds is what is applied.
   */
  applied?(): Promise<bigint | null>;
  /** Accounts that exist as far as is known, and what they are. */
  knownAccounts(): Promise<KnownAccount[]>;
  /** Of those the ones that the log says no stream carries. */
  uncarried(): Promise<LostBefore[]>;
  openGaps(): Promise<Gap[]>;
  /** Of gaps with these first slots, up to where those were read that every partition which has them has closed. */
  closedUpTo(fromSlots: readonly bigint[]): Promise<ReadonlyMap<bigint, bigint>>;
  /** Where history was read from on. */
  historyBegin(): Promise<HistoryBegin>;
  /** Whether a transaction of an earlier slot is stored. */
  hasBefore(slot: bigint): Promise<boolean>;
  /** Whether every partition of what is stored has all gaps closed; false where nothing is. */
  isWhole(): Promise<boolean>;
  /**
   * The slot from which on lists of the program's accounts were known to be whole; null where they were not.
   * @param position where the log ends.
   */
  listedSlot(position: bigint | null): Promise<string | null>;
  /** Accounts of the program that history names and nobody has read. */
  unreadAccounts(): Promise<UnreadAccount[]>;
  /** Transactions whose cut logs were not read again yet. */
  incompleteTransactions(): Promise<CutTransaction[]>;
  /** Absent where nothing is stored that could be compared with the chain. */
  verification?: VerificationStore;
  /** Likewise, of sweeps whose profit is not known. */
  sweeps?: SweepStore;
  /** Likewise, of states as of slots without a known time. */
  undated?: UndatedStore;
}

/** What ClickHouse says of it: all but how far the log is, and what is applied of it. */
export function storedState(store: Store): Omit<StreamStore, 'position' | 'applied'> {
  return {
    knownAccounts: () => followedAccounts(store),
    uncarried: () => uncarriedNow(store),
    openGaps: () => openGaps(store),
    closedUpTo: (fromSlots) => closedUpTo(store, fromSlots),
    historyBegin: () => historyBegin(store),
    hasBefore: (slot) => hasTransactionBefore(store, slot),
    isWhole: async () => openOf(await gapStates(store), await appliedState(store)).length === 0,
    listedSlot: (position) => listedSlot(store, position),
    unreadAccounts: () => unreadAccounts(store),
    incompleteTransactions: () => unresolvedTransactions(store),
    verification: {
      verifiedSlot: () => verifiedSlot(store),
      nextSlot: (from) => nextSlot(store, from),
      signatureBehind: (slot) => signatureBehind(store, slot),
      storedBetween: (from, to) => storedBetween(store, from, to),
      tracesOf: (ghosts) => tracesOf(store, ghosts),
      disputedSlots: (most) => disputedSlots(store, most),
    },
    undated: {
      undatedStates: (behind, most) => undatedStates(store, behind, most),
      waitingHours: (behind, most) => waitingHours(store, behind, most),
    },
    sweeps: {
      unsettled: (upTo, behind, most) => unsettledSweeps(store, upTo, behind, most),
      marksAround: (policy, slot) => marksAround(store, policy, slot),
      sweepsBetween: (policy, after, upTo) => sweepsBetween(store, policy, after, upTo),
      missingBetween: (policy, after, upTo) => missingBetween(store, policy, after, upTo),
    },
  };
}

/**
 * What the log has not is proved anew; what of it is applied is for who reads it to ask. Who told before a slot was told had
 * put all that was listed into the log.
 */
async function listedSlot(store: Store, position: bigint | null): Promise<string | null> {
  const { listed, slot } = await listedState(store);
  if (listed !== 1 || position === null) return null;
  const from = slot === null ? position : BigInt(slot);
  return from > position ? null : String(from);
}

async function tracesOf(store: Store, ghosts: readonly StoredTransaction[]): Promise<StruckTransaction[]> {
  const places = ghosts.map(({ signature, slot }) => ({ signature, slot: slot.toString() }));
  const [events, policies] = [await eventsOf(store, places), await policiesOf(store, places)];
  return ghosts.map(({ signature, slot }) => {
    const isOf = (row: { signature: string; slot: string }) =>
      row.signature === signature && BigInt(row.slot) === slot;
    return {
      ...{ signature, slot },
      policies: policies.filter(isOf).map(({ policy }) => policy),
      events: events.filter(isOf).map((row) => ({
        ...{ position: row.position, policy: row.policy, mint: row.mint },
        ...{ quoteMint: row.quote_mint, logPartition: row.log_partition },
      })),
    };
  });
}
