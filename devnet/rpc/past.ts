import { byteKey } from '../../schemas/solana/byte-key.ts';
import type { Ledger, StoredAccount } from '../chain/ledger.ts';

/** Accounts as they were at a node's slot. */
export interface Past {
  account(address: Uint8Array, slot: bigint): StoredAccount | null;
  /** Those that exist at the slot and belong to `owner`. */
  accountsByOwner(owner: Uint8Array, slot: bigint): StoredAccount[];
  /** How many writes are remembered. */
  held(): number;
}

/** Slots for which writes are collected: more than a node is ever behind. */
const BACK = 600n;
/** Slots between two removals of writes that no node needs any more. */
const CLEAR_EVERY = 100n;

/** Collects writes from the blocks, from the first request for a past state on. */
export function createPast(ledger: Ledger): Past {
  const writes = new Map<string, StoredAccount[]>();
  let next: bigint | null = null;
  /** The first slot from which on all writes were collected. */
  let from = 0n;
  let cleared = 0n;
  /** The last write before `from` of each account that was asked for; null: there is none. */
  const older = new Map<string, StoredAccount | null>();

  /** Keeps only the newest of each account's writes before `oldest`. */
  const clear = (oldest: bigint) => {
    for (const [name, known] of writes) {
      const newest = known.findLastIndex(({ slot }) => slot < oldest);
      if (newest > 0) writes.set(name, known.slice(newest));
      if (newest >= 0) older.delete(name);
    }
    cleared = oldest;
  };

  const collect = () => {
    const tip = ledger.tip().slot;
    const oldest = tip - BACK > ledger.firstSlot ? tip - BACK : ledger.firstSlot;
    if (next === null) {
      from = oldest;
      cleared = oldest;
    }
    for (let slot = next ?? oldest; slot <= tip; slot += 1n) {
      for (const write of ledger.block(slot)?.writes ?? []) {
        const name = byteKey(write.address);
        const known = writes.get(name);
        if (known === undefined) writes.set(name, [{ ...write, slot }]);
        else known.push({ ...write, slot });
      }
    }
    next = tip + 1n;
    if (oldest - cleared >= CLEAR_EVERY) clear(oldest);
  };

  const lastWrite = (address: Uint8Array, upTo: bigint): StoredAccount | null => {
    const first = ledger.firstWrite(address);
    for (let slot = upTo; first !== null && slot >= first; slot -= 1n) {
      const write = ledger.block(slot)?.writes.findLast((one) => Buffer.compare(one.address, address) === 0);
      if (write !== undefined) return { ...write, slot };
    }
    return null;
  };
  /** The last write before those that are collected. */
  const before = (address: Uint8Array, slot: bigint): StoredAccount | null => {
    // Writes that far back may have been removed: look in the blocks.
    if (slot < cleared) return lastWrite(address, slot);
    const name = byteKey(address);
    const known = older.get(name);
    if (known !== undefined) return known;
    const found = lastWrite(address, from - 1n);
    older.set(name, found);
    return found;
  };

  const account = (address: Uint8Array, slot: bigint): StoredAccount | null => {
    const latest = ledger.account(address);
    if (latest === null || latest.slot <= slot) return latest;
    collect();
    const known = writes.get(byteKey(address))?.findLast((write) => write.slot <= slot);
    return known ?? before(address, slot);
  };

  return {
    account,
    accountsByOwner: (owner, slot) => {
      const now = ledger.accountsByOwner(owner);
      if (slot >= ledger.tip().slot) return now;
      collect();
      const addresses = new Map(now.map(({ address }) => [byteKey(address), address]));
      for (const [name, [write]] of writes) if (write !== undefined) addresses.set(name, write.address);
      return [...addresses.values()].flatMap((address) => {
        const found = account(address, slot);
        return found !== null && found.lamports > 0n && Buffer.compare(found.owner, owner) === 0
          ? [found]
          : [];
      });
    },
    held: () => [...writes.values()].reduce((sum, known) => sum + known.length, older.size),
  };
}
