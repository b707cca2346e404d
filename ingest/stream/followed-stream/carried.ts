import type { AccountRecord, CarriedRecord, ExpectedAccount } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';

/** An address that no stream carried when this process began. */
export interface LostBefore {
  address: string;
  /** The first and the last slot behind which the log calls it lost, since a stream carried it last. */
  first: bigint;
  last: bigint;
}

/**
 * Tells the log behind which slot no stream carries an address whose states are kept over time, and from which slot on
 * one does again. Of the slots between only readings over RPC are known. An address without such records is carried.
 *
 * A loss stands in the log before any marker of a slot behind it. The return stands behind the marker of the slot from
 * which on the address is carried: a process that goes on from the last marker never begins before that slot.
 */
export interface CarriedAddresses {
  /** These addresses came up: no stream carries them yet, and nothing was known of them before. */
  added(addresses: readonly string[]): void;
  /** No stream carries these behind that slot; states of them may be known from before. */
  lost(addresses: readonly string[], after: bigint): void;
  /** These left the rota: a request asks for them instead. */
  leftRota(addresses: readonly string[]): void;
  /**
   * These are asked for by a request that is at work from that slot on, and are being read over RPC at that slot or
   * later.
   */
  readOverRpc(addresses: readonly string[], from: bigint): void;
  /** A block meta of a slot came by the last request, which asks for those addresses. */
  requestAtWork(slot: bigint, addresses: () => readonly string[]): void;
  /** A state goes into the log, from whatever source. */
  stateLogged(record: AccountRecord): void;
  /** The log has a marker that says that followed addresses are in it up to this slot. */
  markerLogged(slot: bigint): void;
  /** Adds losses that the log told before this process began, and that are known only now. */
  addEarlierLosses(lost: readonly LostBefore[]): void;
}

export interface CarriedAddressesOptions {
  lost: readonly LostBefore[];
  expectedAt(address: Uint8Array): ExpectedAccount | null;
  /** Unix seconds of a slot; null where it is not remembered. */
  timeOf(slot: bigint): number | null;
  send(records: readonly CarriedRecord[]): void;
  /** Has these addresses read at that slot or later. */
  reread(addresses: readonly string[], notBefore: bigint): void;
}

/** Whose losses are told. Of the others either the core brings every state, or nothing is kept over time. */
const KEPT: Record<ExpectedAccount, boolean> = {
  ...{ token_account: true, pool: true, curve_config: true },
  ...{ mint: false, metadata: false, program: false },
};

export function createCarriedAddresses({
  lost,
  expectedAt,
  timeOf,
  send,
  reread,
}: CarriedAddressesOptions): CarriedAddresses {
  /** Addresses that no stream carries, with the first and the last slot behind which each was told to be lost. */
  const open = new Map(lost.map(({ address, first, last }) => [address, { first, last }]));
  /** Those of them that are not read in turns: a request asks for them, or soon will. */
  const waiting = new Set(open.keys());
  /** Of some of those: the slot from which on a request asks for them, and at which they are read. */
  const readFrom = new Map<string, bigint>();
  /** Addresses that are carried again from that slot on, whose marker is not in the log yet. */
  const ending = new Map<string, bigint>();
  /**
   * Addresses that came up and were not read yet, with the slot from which on they are carried; null where that is not
   * known.
   */
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
    leftRota: (addresses) => {
      for (const address of addresses) if (open.has(address)) wait(address);
    },
    readOverRpc: (addresses, from) => {
      for (const address of addresses) {
        if (fresh.has(address)) fresh.set(address, from);
        if (!open.has(address)) continue;
        readFrom.set(address, from);
        hasNew = true;
      }
    },
    requestAtWork: (slot, addresses) => {
      if (!hasNew) return;
      hasNew = false;
      const again: string[] = [];
      let notBefore = slot;
      for (const address of addresses()) {
        const known = open.get(address);
        if (!waiting.has(address) || known === undefined) continue;
        const from = readFrom.get(address);
        // The loss may be behind a slot that the stream has not come to yet; and an address that only an earlier
        // process asked for has no reading behind its loss: it is read again.
        const least = known.last >= slot ? known.last + 1n : slot;
        if (from === undefined || from <= known.last) again.push(address);
        ending.set(address, from !== undefined && from > known.last ? from : least);
        if (least > notBefore) notBefore = least;
        waiting.delete(address);
        readFrom.delete(address);
      }
      if (again.length > 0) reread(again, notBefore);
    },
    stateLogged: (record) => {
      if (fresh.size === 0 || record.source !== 'rpc') return;
      const address = encodeBase58(record.address);
      const from = fresh.get(address);
      if (from === undefined) return;
      fresh.delete(address);
      if (from !== null && record.slot >= from) return;
      // A stream does not bring every state behind that slot.
      lose([address], record.slot);
      if (!open.has(address)) return;
      wait(address);
      if (from !== null) readFrom.set(address, from);
    },
    markerLogged: (slot) => {
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
    addEarlierLosses: (before) => {
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
