import type { Gap } from '../../../ingest/history/gap.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import type { StreamStore } from '../../../ingest/stream/stored-state.ts';
import type { AccountRecord, GapRecord, LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { nothingStored } from './nothing-stored.ts';

/** What a reader of the log knows after each batch: enough to go on from, and to compare with a ledger. */
export interface LogModel extends StreamStore {
  apply(batch: LogBatch): Promise<void>;
  /** Newest state by address, base58. */
  accounts: Map<string, AccountRecord>;
  /** Slot of the newest reading over RPC by address, base58. */
  readings: Map<string, bigint>;
  /** Every record of a transaction by signature, base58. */
  transactions: Map<string, TransactionRecord[]>;
  gaps: Map<bigint, GapRecord>;
  /** What the topic of transactions holds, in its order. */
  order: LogRecord[];
  /** Slots of the markers of a topic, in its order; each once for every partition. */
  markers: Record<'accounts' | 'transactions', bigint[]>;
  /** Slot of the last marker by topic and partition. */
  marked: Map<string, bigint>;
  /** Slot up to which that marker says that followed addresses are in the log. */
  followed: Map<string, bigint>;
}

const versionOf = (record: AccountRecord) => (record.slot << 64n) | record.writeVersion;

/** @param partitions that each of accounts and transactions has. */
export function createLogModel(partitions = 1): LogModel {
  const model: Omit<LogModel, keyof StreamStore | 'apply'> = {
    accounts: new Map(),
    readings: new Map(),
    transactions: new Map(),
    gaps: new Map(),
    order: [],
    markers: { accounts: [], transactions: [] },
    marked: new Map(),
    followed: new Map(),
  };
  const applyRecord = (topic: LogBatch['topic'], record: LogRecord) => {
    if (topic === 'transactions') model.order.push(record);
    if (record.kind === 'gap') model.gaps.set(record.fromSlot, record);
    else if (record.kind === 'account') {
      const address = encodeBase58(record.address);
      const known = model.accounts.get(address);
      if (known === undefined || versionOf(record) >= versionOf(known)) model.accounts.set(address, record);
      if (record.source === 'rpc' && record.slot > (model.readings.get(address) ?? -1n))
        model.readings.set(address, record.slot);
    } else if (record.kind === 'transaction') {
      const signature = encodeBase58(record.signature);
      model.transactions.set(signature, [...(model.transactions.get(signature) ?? []), record]);
    }
  };
  return {
    ...nothingStored,
    ...model,
    apply: async ({ topic, partition, entries }) => {
      for (const { record } of entries) {
        applyRecord(topic, record);
        if (record.kind !== 'marker') continue;
        const place = `${topic}/${partition}`;
        // A slot is marked a second time once followed addresses are in the log up to it.
        if (model.marked.get(place) !== record.slot)
          model.markers[topic as 'accounts' | 'transactions'].push(record.slot);
        model.marked.set(place, record.slot);
        model.followed.set(place, record.followed?.slot ?? record.slot);
      }
    },
    position: async () => {
      const lowest = (slots: Iterable<bigint>) => [...slots].sort((a, b) => Number(a - b))[0] as bigint;
      if (model.marked.size < partitions * 2) return null;
      return { slot: lowest(model.marked.values()), followed: lowest(model.followed.values()) };
    },
    knownAccounts: async () =>
      [...model.accounts].map(([address, { expected }]) => ({ address, expected: expected ?? 'program' })),
    historyBegin: async () => ({
      firstSlot: [...model.gaps.keys()].sort((a, b) => Number(a - b))[0] ?? null,
      clipped: [...model.gaps.values()].flatMap(({ fromSlot, closed, obstacle }) =>
        closed && obstacle?.type === 'pruned' ? [{ fromSlot, firstSlot: obstacle.firstSlot }] : [],
      ),
    }),
    hasBefore: async (slot) =>
      [...model.transactions.values()].some((records) => records.some((record) => record.slot < slot)),
    isWhole: async () => [...model.gaps.values()].every(({ closed }) => closed),
    openGaps: async (): Promise<Gap[]> => [...model.gaps.values()].filter(({ closed }) => !closed),
    closedUpTo: async (fromSlots) =>
      new Map(
        fromSlots.flatMap((slot) => {
          const gap = model.gaps.get(slot);
          return gap?.closed === true ? [[slot, gap.toSlot]] : [];
        }),
      ),
  };
}
