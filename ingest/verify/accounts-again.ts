import type { TransactionRecord } from '../../schemas/records.ts';

/** Has accounts read again that the stream may have left otherwise than the chain has them. */
export interface AccountsAgain {
  /** Followed accounts that a transaction may have written, which the stream never brought; base58. */
  writtenBy(record: TransactionRecord): string[];
  /** Reads these at that slot or later. */
  read(addresses: readonly string[], notBefore: bigint): void;
  /** All of them: what wrote them up to that slot is not known, or not of the chain. */
  readAll(slot: bigint): void;
}

/** What a comparison finds to be read again. */
export interface FoundAgain {
  /** A transaction of which the stream brought nothing: answers the accounts that it may have written. */
  leftOut(record: TransactionRecord): string[];
  /** The stream told of a slot what the chain does not have. */
  all(): void;
  /** Has it read, where it is so much at least. */
  ask(slot: bigint, least?: number): void;
}

export function createFoundAgain(accounts: AccountsAgain | undefined): FoundAgain {
  const written = new Set<string>();
  let isAll = false;
  return {
    leftOut: (record) => {
      const addresses = accounts?.writtenBy(record) ?? [];
      for (const address of addresses) written.add(address);
      return addresses;
    },
    all: () => {
      isAll = true;
    },
    ask: (slot, least = 1) => {
      if (isAll) accounts?.readAll(slot);
      else if (written.size >= least) accounts?.read([...written], slot);
      else return;
      isAll = false;
      written.clear();
    },
  };
}
