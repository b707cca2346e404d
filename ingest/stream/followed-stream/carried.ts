import type { AccountRecord, CarriedRecord, ExpectedAccount } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';

/** An address that no stream carried when this process began. */
export interface LostBefore {
  address: string;
  /** The first and the last slot behind which it was told to be lost since it was carried last. */
  first: bigint;
  last: bigint;
}

/**
 * Tells the log since when no stream carries an address whose states are kept over time, and from when on one does again:
 * of the slots between nothing is known but what was read. What is not told of is carried.
 *
 * That one is lost stands in the log before any marker of a slot behind the loss. That it is carried again stands behind
 * the marker of the slot from which on it is: a process that goes on from the last marker never begins before that.
 */
export interface Carried {
  /** These came up: no stream carries them yet, and nothing was known of them before. */
  added(addresses: readonly string[]): void;
  /** They may be known, and no stream carries them behind that slot. */
  lost(addresses: readonly string[], after: bigint): void;
  /** They are not read in turns any more: a request asks for them. */
  left(addresses: readonly string[]): void;
  /** These are asked for by a request that is at work from that slot on, and are read there or later. */
  read(addresses: readonly string[], from: bigint): void;
  /** A block meta of a slot came by the last request, which asks for those addresses. */
  atWork(slot: bigint, addresses: () => readonly string[]): void;
  /** A state goes into the log, whoever found it. */
  told(record: AccountRecord): void;
  /** The log has come to the marker that followed addresses are brought up to this slot. */
  marked(slot: bigint): void;
  /** What the log tells of these from before is known only now. */
  takeUp(lost: readonly LostBefore[]): void;
}

export interface CarriedOptions {
  lost: readonly LostBefore[];
  expectedAt(address: Uint8Array): ExpectedAccount | null;
  /** Unix seconds of a slot; null where it is not remembered. */
  timeOf(slot: bigint): number | null;
  send(records: readonly CarriedRecord[]): void;
  /** Has them read at that slot or later. */
  reread(addresses: readonly string[], notBefore: bigint): void;
}

/** Of the others either the core brings every state, or nothing is kept over time. */
const KEPT: Record<ExpectedAccount, boolean> = {
  ...{ token_account: true, pool: true, curve_config: true },
  ...{ mint: false, metadata: false, program: false },
};

export function createCarried({ lost, expectedAt, timeOf, send, reread }: CarriedOptions): Carried {
  /** The slots that those were lost behind which no stream carries: the first, and the last that was told. */
  const open = new Map(lost.map(({ address, first, last }) => [address, { first, last }]));
  /** Of those the ones that are not read in turns: they are asked for, or soon will be. */
  const waiting = new Set(open.keys());
  /** From which slot on some of those were asked for and read. */
  const readFrom = new Map<string, bigint>();
  /** They are carried from that slot on, which the log has not come to. */
  const ending = new Map<string, bigint>();
  /** Came up and were not read yet: from which slot on they are carried, where that is known. */
  const fresh = new Map<string, bigint | null>();
  let hasNew = waiting.size > 0;

  const recordOf = (address: string, slot: bigint, carried: boolean): CarriedRecord => ({
    ...{ kind: 'carried', address: decodeKey(address) as Uint8Array },
    ...{ slot, blockTime: timeOf(slot), carried },
  });
  const isKept = (address: string) => {
    const expected = expectedAt(decodeKey(address) as Uint8Array);
    return expected !== null && KEPT[expected];
  };
  const wait = (address: string) => {
    waiting.add(address);
    hasNew = true;
  };
  const lose = (addresses: readonly string[], after: bigint) => {
    const records: CarriedRecord[] = [];
    for (const address of addresses) {
      const known = open.get(address);
      if ((known !== undefined && known.first <= after) || !isKept(address)) continue;
      open.set(address, { first: after, last: known === undefined ? after : known.last });
      records.push(recordOf(address, after, false));
    }
    if (records.length > 0) send(records);
  };

  return {
    added: (addresses) => {
      for (const address of addresses) fresh.set(address, null);
    },
    lost: (addresses, after) => {
      for (const address of addresses) {
        fresh.delete(address);
        waiting.delete(address);
        readFrom.delete(address);
        ending.delete(address);
      }
      lose(addresses, after);
    },
    left: (addresses) => {
      for (const address of addresses) if (open.has(address)) wait(address);
    },
    read: (addresses, from) => {
      for (const address of addresses) {
        if (fresh.has(address)) fresh.set(address, from);
        if (!open.has(address)) continue;
        readFrom.set(address, from);
        hasNew = true;
      }
    },
    atWork: (slot, addresses) => {
      if (!hasNew) return;
      hasNew = false;
      const again: string[] = [];
      let notBefore = slot;
      for (const address of addresses()) {
        const known = open.get(address);
        if (!waiting.has(address) || known === undefined) continue;
        const from = readFrom.get(address);
        // Lost behind a slot that the stream has not come to yet, or asked for by a process before this one.
        const least = known.last >= slot ? known.last + 1n : slot;
        if (from === undefined || from <= known.last) again.push(address);
        ending.set(address, from !== undefined && from > known.last ? from : least);
        if (least > notBefore) notBefore = least;
        waiting.delete(address);
        readFrom.delete(address);
      }
      if (again.length > 0) reread(again, notBefore);
    },
    told: (record) => {
      if (fresh.size === 0 || record.source !== 'rpc') return;
      const address = encodeBase58(record.address);
      const from = fresh.get(address);
      if (from === undefined) return;
      fresh.delete(address);
      if (from !== null && record.slot >= from) return;
      // Of what comes behind that slot nobody sees all.
      lose([address], record.slot);
      if (!open.has(address)) return;
      wait(address);
      if (from !== null) readFrom.set(address, from);
    },
    marked: (slot) => {
      if (ending.size === 0) return;
      const records: CarriedRecord[] = [];
      for (const [address, from] of ending) {
        if (from > slot) continue;
        ending.delete(address);
        open.delete(address);
        records.push(recordOf(address, from, true));
      }
      if (records.length > 0) send(records);
    },
    takeUp: (before) => {
      for (const { address, first, last } of before) {
        const known = open.get(address);
        if (known === undefined) wait(address);
        open.set(address, {
          first: known === undefined || first < known.first ? first : known.first,
          last: known === undefined || last > known.last ? last : known.last,
        });
      }
    },
  };
}
