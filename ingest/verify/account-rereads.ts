import type { TransactionRecord } from '../../schemas/records.ts';

/** Has accounts read again whose stored state may differ from the chain's, by what the stream brought or left out. */
export interface AccountRereader {
  /** Followed accounts that may have been written by a transaction that the stream never brought; base58. */
  writtenBy(record: TransactionRecord): string[];
  /** Reads these at that slot or later. */
  read(addresses: readonly string[], notBefore: bigint): void;
  /** Reads all accounts: what wrote them up to that slot is not known, or not of the chain. */
  readAll(slot: bigint): void;
}

/** What a comparison finds to be read again. */
export interface PendingRereads {
  /** A transaction of which the stream brought nothing: answers the accounts that it may have written. */
  addWrittenBy(record: TransactionRecord): string[];
  /** The stream told something of a slot that the chain does not have: all accounts are to be read. */
  addAll(): void;
  /** Has what was found read at that slot or later, where it is `least` accounts or more. */
  flush(slot: bigint, least?: number): void;
}

export function createPendingRereads(accounts: AccountRereader | undefined): PendingRereads {
  const written = new Set<string>();
  let isAll = false;
  return {
    addWrittenBy: (record) => {
      const addresses = accounts?.writtenBy(record) ?? [];
      for (const address of addresses) written.add(address);
      return addresses;
    },
    addAll: () => {
      isAll = true;
    },
    flush: (slot, least = 1) => {
      if (isAll) accounts?.readAll(slot);
      else if (written.size >= least) accounts?.read([...written], slot);
      else return;
      isAll = false;
      written.clear();
    },
  };
}
