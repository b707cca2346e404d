import type { Store } from '../../../clickhouse/client.ts';
import { nameOf, type TransactionPlace } from '../../../clickhouse/queries/transactions/by-transaction.ts';
import {
  type DisputedRow,
  decidedBetween,
  decidedSlots,
  eventsOfDecided,
  policiesOfDecided,
  STANDING,
} from '../../../clickhouse/queries/transactions/disputed.ts';
import { isDecided } from '../../../clickhouse/reading-rank.ts';
import type { TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import type { Facts } from '../rows/facts.ts';
import { noStruckRows, type StruckRows } from '../struck-transactions.ts';
import { undoneRows } from './undone-rows.ts';

/** What a batch says once only the deciding reading of a decided transaction counts. */
export interface DecidedFacts {
  facts: Facts;
  /** Rows that take out what other readings of these transactions brought, before or in this batch. */
  undone: StruckRows;
  decided: DisputedRow[];
}

/** @param isSoleWriter whether no other process has written of the partition since the batch before */
type Decide = (
  facts: Facts,
  records: readonly TransactionRecord[],
  isSoleWriter: boolean,
) => Promise<DecidedFacts>;

interface Slots {
  lowest: bigint;
  highest: bigint;
}

/**
 * Where the stream brought two versions of a transaction, a reading of the chain decides, whichever comes first. What
 * another reading has and this one does not is taken out, also where one batch brings both: a writer that was paused
 * may still write it.
 */
export function createDecided(store: Store): Decide {
  /**
   * The slots between which transactions were decided: at the tip hardly ever one was, and nothing is asked. All
   * partitions of this process share it.
   */
  let range: Slots | null = null;
  let isAsked = false;
  const know = (slots: Slots | null) => {
    if (slots !== null)
      range = range === null ? slots : rangeOf([slots.lowest, slots.highest, range.lowest, range.highest]);
  };

  const decidedBefore = async (records: readonly TransactionRecord[]): Promise<TransactionPlace[]> => {
    if (!isAsked) {
      know(await decidedSlots(store));
      isAsked = true;
    }
    if (range === null || records.length === 0) return [];
    const here = rangeOf(records.map(({ slot }) => slot));
    if (here.highest < range.lowest || here.lowest > range.highest) return [];
    const names = new Set(records.map(recordName));
    return (await decidedBetween(store, here.lowest, here.highest)).filter((one) => names.has(nameOf(one)));
  };

  return async (facts, records, isSoleWriter) => {
    if (!isSoleWriter) isAsked = false;
    const before = await decidedBefore(records);
    const here = facts.transactions.filter(({ has_index }) => isDecided(has_index));
    const all = new Map<string, TransactionPlace>([...before, ...here].map((one) => [nameOf(one), one]));
    if (all.size === 0) return { facts, undone: noStruckRows(), decided: [] };
    if (here.length > 0) know(rangeOf(here.map(({ slot }) => BigInt(slot))));
    const inSlots = [...all.values()];
    const [events, policies] = await Promise.all([
      eventsOfDecided(store, inSlots),
      policiesOfDecided(store, inSlots),
    ]);
    const isOther = (row: TransactionPlace & { has_index: number }) =>
      all.has(nameOf(row)) && !isDecided(row.has_index);
    const isOfDecided = (row: TransactionPlace) => all.has(nameOf(row));
    const inBatch = [...facts.events, ...facts.derived];
    return {
      facts: {
        ...facts,
        events: facts.events.filter((row) => !isOther(row)),
        derived: facts.derived.filter((row) => !isOther(row)),
        transactions: facts.transactions.filter((row) => !isOther(row)),
        policyTransactions: facts.policyTransactions.filter((row) => !isOther(row)),
        incomplete: facts.incomplete.filter((row) => !isOfDecided(row)),
        decided: facts.decided.filter((row) => !isOfDecided(row)),
      },
      undone: undoneRows(
        [...events, ...inBatch.filter((row) => all.has(nameOf(row)))],
        [...policies, ...facts.policyTransactions.filter((row) => all.has(nameOf(row)))],
      ),
      decided: here.map(({ slot, signature }) => ({ slot, signature, standing: STANDING.decided })),
    };
  };
}

const recordName = ({ slot, signature }: TransactionRecord): string => `${slot} ${encodeBase58(signature)}`;

function rangeOf(slots: readonly bigint[]): Slots {
  return { lowest: slots.reduce(lower), highest: slots.reduce(higher) };
}

const lower = (a: bigint, b: bigint) => (a < b ? a : b);
const higher = (a: bigint, b: bigint) => (a > b ? a : b);
