import { rankOf } from '../../../clickhouse/reading-rank.ts';
import type {
  EventRow,
  IncompleteRow,
  PolicyTransactionRow,
  TransactionOrder,
  TransactionRow,
} from '../../../clickhouse/tables.ts';
import { eachYielding } from '../../../runtime/yielding.ts';
import type { DerivedEvent, Profits } from '../../../schemas/extract/derive.ts';
import { extractEvents } from '../../../schemas/extract/extract.ts';
import { UNDECODED, UNREADABLE } from '../../../schemas/incomplete.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import { actorOf, amountsOf, type KnownEvent } from '../../../schemas/program/events.ts';
import { storedSummary } from '../../../schemas/program/stored-summary.ts';
import type { DeadLetterRecord, TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { blockIndexOf } from '../../../schemas/solana/block-index.ts';
import { namedAccounts } from '../../../schemas/transaction/legibility.ts';
import { readTransaction } from '../../../schemas/transaction/transaction.ts';
import { intervalOf } from '../rollups/slot-intervals.ts';

/** What a batch of transactions says, and which rollups it touches. */
export interface Facts {
  events: EventRow[];
  /** Events of transactions whose logs were cut. */
  derived: EventRow[];
  transactions: TransactionRow[];
  policyTransactions: PolicyTransactionRow[];
  incomplete: IncompleteRow[];
  /** Transactions with cut logs whose derived events lack nothing. */
  decided: IncompleteRow[];
  deadLetters: DeadLetterRecord[];
  touchedMints: Set<string>;
  touchedIntervals: Set<bigint>;
}

export function factsOf(
  records: readonly TransactionRecord[],
  programId: Uint8Array,
  partition: number,
  profits: SweptProfits = new Map(),
): Facts {
  const facts = noFacts();
  for (const record of records) addRecord(facts, record, { programId, partition, profits });
  return facts;
}

const AT_ONCE = 20;
/** A transaction with much data takes as long to read as thousands of others, and several partitions take turns. */
const costOf = ({ payload }: TransactionRecord): number => 1 + payload.length / 8_192;

/** `factsOf`, letting other work run in between: a member of a consumer group has to send heartbeats. */
export async function factsYielding(
  records: readonly TransactionRecord[],
  programId: Uint8Array,
  partition: number,
  profits: SweptProfits = new Map(),
): Promise<Facts> {
  const facts = noFacts();
  const add = (record: TransactionRecord) => addRecord(facts, record, { programId, partition, profits });
  await eachYielding(records, add, AT_ONCE, costOf);
  return facts;
}

const noFacts = (): Facts => ({
  events: [],
  derived: [],
  transactions: [],
  policyTransactions: [],
  incomplete: [],
  decided: [],
  deadLetters: [],
  touchedMints: new Set(),
  touchedIntervals: new Set(),
});

function addRecord(facts: Facts, record: TransactionRecord, options: FactsOptions): void {
  try {
    addTransaction(facts, record, options);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    addUnreadable(facts, record, error.message);
  }
}

/** Profits that some transactions with cut logs swept, by signature. */
export type SweptProfits = ReadonlyMap<string, Profits>;

interface FactsOptions {
  programId: Uint8Array;
  partition: number;
  profits: SweptProfits;
}

/**
 * All that the transaction did is missing of the accounts that it names. If not even those can be read its slot is a
 * gap.
 */
function addUnreadable(facts: Facts, record: TransactionRecord, reason: string): void {
  const { slot, blockTime: block_time, payload } = record;
  facts.deadLetters.push(deadLetter(record, 'transaction', reason, payload));
  facts.incomplete.push({
    signature: encodeBase58(record.signature),
    ...{ slot: slot.toString(), block_time, reason },
    policies: (namedAccounts(record) ?? []).map(encodeBase58),
    missing: [UNREADABLE],
  });
}

function addTransaction(
  facts: Facts,
  record: TransactionRecord,
  { programId, partition, profits }: FactsOptions,
): void {
  const tx = readTransaction(record);
  const signature = encodeBase58(record.signature);
  const extract = extractEvents(tx, programId, profits.get(signature));
  const slot = record.slot.toString();
  const decides = record.standing === 'decides';
  // An older version may have written an index to the log that is not a valid one.
  const index = blockIndexOf(record.index);
  const order: TransactionOrder = {
    tx_index: index ?? record.order,
    has_index: rankOf(index, { decides }),
    block_time: record.blockTime,
  };
  const incomplete = { signature, slot, block_time: record.blockTime };
  if (extract.status === 'undecoded') {
    const { reason, accounts } = extract;
    facts.incomplete.push({ ...incomplete, policies: accounts, missing: [UNDECODED], reason });
    // A transaction with cut logs needs no letter, for it is read again; what does not decode waits for a better
    // decoder.
    facts.deadLetters.push(deadLetter(record, 'transaction', reason, record.payload));
    return;
  }
  for (const { bytes, reason } of extract.badEvents)
    facts.deadLetters.push(deadLetter(record, 'event', reason, bytes));
  if (extract.status === 'whole')
    facts.transactions.push({ signature, slot, ...order, failed: tx.failed ? 1 : 0 });
  else if (extract.undecided === null)
    facts.decided.push({ ...incomplete, policies: [], missing: [], reason: CUT });
  else {
    const { what: missing, accounts: policies } = extract.undecided;
    facts.incomplete.push({ ...incomplete, policies, missing, reason: CUT });
  }

  const policies = new Set(extract.writable);
  const placed: { position: number; event: RowEvent; settled?: boolean }[] =
    extract.status === 'whole'
      ? extract.events
      : extract.events.map(({ position, settled, ...event }) => ({ position, event, settled }));
  for (const { position, event, settled = false } of placed) {
    const row = eventRow(event);
    if (event.of !== null) {
      policies.add(row.policy);
      facts.touchedMints.add(row.mint);
    }
    facts.touchedIntervals.add(intervalOf(record.slot));
    const into = extract.status === 'whole' ? facts.events : facts.derived;
    const has_index = rankOf(index, { settled, decides });
    into.push({ ...row, slot, signature, position, ...order, has_index, log_partition: partition });
  }
  for (const policy of policies) facts.policyTransactions.push({ policy, slot, signature, ...order });
}

const CUT = 'its logs were cut before an event of the program';

type EventColumns = Omit<
  EventRow,
  keyof TransactionOrder | 'slot' | 'signature' | 'position' | 'log_partition'
>;

type RowEvent = KnownEvent & Pick<DerivedEvent, 'registered'>;

function eventRow(event: RowEvent): EventColumns {
  const { a, b, c, d } = amountsOf(event);
  const of = event.of;
  return {
    policy: of === null ? '' : encodeBase58(of.policy),
    mint: of === null ? '' : encodeBase58(of.mint),
    quote_mint: of === null ? '' : encodeBase58(of.quoteMint),
    kind: event.event,
    actor: actorOf(event),
    summary: storedSummary(event, event.registered),
    amount_a: a.toString(),
    amount_b: b.toString(),
    amount_c: c.toString(),
    amount_d: d.toString(),
  };
}

/** Events whose day is not known, so that the sums of days can say that they lack some. */
export function undatedRows(events: readonly EventRow[]): object[] {
  return events
    .filter(({ block_time, kind }) => block_time === null && kind !== '')
    .map(({ slot, signature, position }) => ({ slot, signature, position }));
}

function deadLetter(
  record: TransactionRecord,
  what: string,
  reason: string,
  bytes: Uint8Array,
): DeadLetterRecord {
  const where = encodeBase58(record.signature);
  return { kind: 'dead-letter', source: record.source, what, where, reason, slot: record.slot, bytes };
}
