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
import type { UndatedStore } from '../history/date-states.ts';
import type { Gap } from '../history/gap.ts';
import type { SweepStore } from '../history/settle-profits.ts';
import type { LogPosition } from '../log/port.ts';
import type { VerificationStore } from '../verify/verify.ts';
import type { CutTransaction } from './cut-logs.ts';
import type { LostBefore } from './followed-stream/carried.ts';

export interface HistoryBegin {
  /** The lowest first slot of a gap; null where none was opened yet. */
  firstSlot: bigint | null;
  /** Closed gaps that were read down to a slot later than their first, because history was to begin there. */
  clipped: { fromSlot: bigint; firstSlot: bigint }[];
}

export interface KnownAccount {
  address: string;
  expected: ExpectedAccount;
  /** Somebody wrote it into an account; it is not derived from the program's own addresses. */
  named?: boolean;
}

/** What the stream needs to know of the log and of what is stored. */
export interface StreamStore {
  /** The lowest last marker over all partitions of the log; null before each has one. */
  position(): Promise<LogPosition | null>;
  /**
   * The lowest marker that is applied: the log may be ahead of the store that the other methods read. Absent where
   * whatever the log holds is applied.
   */
  applied?(): Promise<bigint | null>;
  /** Accounts that exist as far as is known, and what they are. */
  knownAccounts(): Promise<KnownAccount[]>;
  /** Those of the known accounts that no stream carries, according to the log. */
  uncarried(): Promise<LostBefore[]>;
  openGaps(): Promise<Gap[]>;
  /**
   * For gaps with these first slots that every partition holding them has closed: the slot up to which each was read,
   * by first slot.
   */
  closedUpTo(fromSlots: readonly bigint[]): Promise<ReadonlyMap<bigint, bigint>>;
  /** The slot from which on history was read. */
  historyBegin(): Promise<HistoryBegin>;
  /** Whether a transaction of an earlier slot is stored. */
  hasBefore(slot: bigint): Promise<boolean>;
  /** Whether every partition has all gaps closed; false where nothing is stored. */
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
  /** Sweeps whose profit is not known; absent likewise. */
  sweeps?: SweepStore;
  /** States of slots without a known time; absent likewise. */
  undated?: UndatedStore;
}

/** The stream's store in ClickHouse, without what says how far the log is and what of it is applied. */
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
 * Null where the stored slot lies behind the end of the log: that the lists are whole is proved anew then. Whether the
 * log is applied up to the slot is for its reader to check. Without a slot the state is of an older version, which told
 * it once all listed accounts were in the log.
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
