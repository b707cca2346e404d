import type { Gap } from '../../../ingest/history.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import type { StreamStore } from '../../../ingest/store.ts';
import { encodeBase58 } from '../../../schemas/base58.ts';
import type { AccountRecord, GapRecord, LogRecord, TransactionRecord } from '../../../schemas/records.ts';

/** What a reader of the log knows after each batch: enough to go on from, and to compare with a ledger. */
export interface LogModel extends StreamStore {
  apply(batch: LogBatch): Promise<void>;
  /** Newest state by address, base58. */
  accounts: Map<string, AccountRecord>;
  /** Every record of a transaction by signature, base58. */
  transactions: Map<string, TransactionRecord[]>;
  gaps: Map<bigint, GapRecord>;
  /** What the topic of transactions holds, in its order. */
  order: LogRecord[];
  /** Slots of the markers of a topic, in its order. */
  markers: Record<'accounts' | 'transactions', bigint[]>;
}

const versionOf = (record: AccountRecord) => (record.slot << 64n) | record.writeVersion;

export function createLogModel(): LogModel {
  const model: Omit<LogModel, keyof StreamStore | 'apply'> = {
    accounts: new Map(),
    transactions: new Map(),
    gaps: new Map(),
    order: [],
    markers: { accounts: [], transactions: [] },
  };
  const applyRecord = (topic: LogBatch['topic'], record: LogRecord) => {
    if (topic === 'transactions') model.order.push(record);
    if (record.kind === 'marker') model.markers[topic as 'accounts' | 'transactions'].push(record.slot);
    else if (record.kind === 'gap') model.gaps.set(record.fromSlot, record);
    else if (record.kind === 'account') {
      const address = encodeBase58(record.address);
      const known = model.accounts.get(address);
      if (known === undefined || versionOf(record) >= versionOf(known)) model.accounts.set(address, record);
    } else if (record.kind === 'transaction') {
      const signature = encodeBase58(record.signature);
      model.transactions.set(signature, [...(model.transactions.get(signature) ?? []), record]);
    }
  };
  return {
    ...model,
    apply: async ({ topic, entries }) => {
      for (const { record } of entries) applyRecord(topic, record);
    },
    position: async () => {
      const { accounts, transactions } = model.markers;
      const last = [accounts.at(-1), transactions.at(-1)].sort((a = 0n, b = 0n) => Number(a - b));
      return last.includes(undefined) ? null : (last[0] as bigint);
    },
    knownAccounts: async () =>
      [...model.accounts].map(([address, { expected }]) => ({ address, expected: expected ?? 'program' })),
    openGaps: async (): Promise<Gap[]> => [...model.gaps.values()].filter(({ closed }) => !closed),
    incompleteTransactions: async () => [],
  };
}
