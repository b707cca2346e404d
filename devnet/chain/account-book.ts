import { encodeRow, ownerOf } from '../bytes/account.ts';
import { bytesOf, keyOf } from '../program/state/keys.ts';
import {
  AMM_PROGRAM,
  BPF_LOADER,
  LAUNCHPAD_PROGRAM,
  NOISE_PROGRAM,
  ROUTER_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../program/state/known-programs.ts';
import { type Key, type ProgramState, TABLE_NAMES, type TableName } from '../program/state/state.ts';
import { type BlockRecord, rentOf } from './block-record.ts';
import type { AccountWrite, StoredAccount } from './ledger.ts';
import { signatureAt } from './transactions.ts';

/** The last write of an account. */
export interface LastWrite {
  slot: bigint;
  tx: number;
  version: bigint;
  table: TableName;
}

/** What the book keeps of an account. */
export interface WrittenAccount extends LastWrite {
  key: Key;
  /** Slot of its first write. */
  first: bigint;
}

/** Raw accounts at the tip, encoded when they are asked for. */
export interface AccountBook {
  apply(record: BlockRecord): void;
  /** Every account with its first and last write, in the order of first writes. */
  written(): Iterable<WrittenAccount>;
  /** Fills an empty book with the accounts of a snapshot. */
  restore(accounts: Iterable<WrittenAccount>): void;
  tableOf(key: Key): TableName | null;
  lastWrites: ReadonlyMap<Key, LastWrite>;
  /** Slot of an account's first write; null: never written. */
  firstWrite(address: Uint8Array): bigint | null;
  get(address: Uint8Array): StoredAccount | null;
  ownedBy(owner: Uint8Array): StoredAccount[];
}

/** The programs themselves, as they stand at genesis. */
export function genesisWrites(programId: Key): AccountWrite[] {
  const programs = [
    programId,
    LAUNCHPAD_PROGRAM,
    AMM_PROGRAM,
    TOKEN_PROGRAM,
    TOKEN_2022_PROGRAM,
    ROUTER_PROGRAM,
    NOISE_PROGRAM,
  ];
  return programs.map((key, at) => {
    const data = new Uint8Array(36).fill(2, 0, 1);
    return {
      address: bytesOf(key),
      owner: bytesOf(BPF_LOADER),
      lamports: rentOf(data),
      data,
      executable: true,
      writeVersion: BigInt(at + 1),
      signature: null,
    };
  });
}

/** Makes a book over the typed state, which the caller keeps up to date. */
export function createAccountBook(
  state: ProgramState,
  where: { seed: string; programId: Key; firstSlot: bigint },
): AccountBook {
  const lastWrites = new Map<Key, LastWrite>();
  const firstWrites = new Map<Key, bigint>();
  const programs = new Map(
    genesisWrites(where.programId).map((write) => [
      keyOf(write.address),
      { ...write, slot: where.firstSlot },
    ]),
  );
  const stored = (key: Key, last: LastWrite): StoredAccount => {
    const value = state[last.table].get(key);
    const data = value === undefined ? new Uint8Array(0) : encodeRow(last.table, value);
    return {
      address: bytesOf(key),
      owner: bytesOf(value === undefined ? SYSTEM_PROGRAM : ownerOf(last.table, value, where.programId)),
      lamports: value === undefined ? 0n : rentOf(data),
      data,
      executable: false,
      writeVersion: last.version,
      signature: signatureAt(where.seed, last.slot, last.tx),
      slot: last.slot,
    };
  };
  return {
    lastWrites,
    apply: (record) => {
      const tables = new Map<Key, TableName>();
      for (const table of TABLE_NAMES)
        for (const key of record.rows[table]?.keys() ?? []) tables.set(key, table);
      for (const { key, tx, version } of record.written) {
        const table = tables.get(key);
        if (table === undefined) throw new RangeError(`no row for ${key}`);
        if (!firstWrites.has(key)) firstWrites.set(key, record.slot);
        lastWrites.set(key, { slot: record.slot, tx, version, table });
      }
    },
    *written() {
      for (const [key, last] of lastWrites) yield { key, first: firstWrites.get(key) ?? last.slot, ...last };
    },
    restore: (accounts) => {
      for (const { key, first, ...last } of accounts) {
        firstWrites.set(key, first);
        lastWrites.set(key, last);
      }
    },
    tableOf: (key) => lastWrites.get(key)?.table ?? null,
    firstWrite: (address) => {
      const key = keyOf(address);
      return programs.get(key)?.slot ?? firstWrites.get(key) ?? null;
    },
    get: (address) => {
      const key = keyOf(address);
      const last = lastWrites.get(key);
      return last === undefined ? (programs.get(key) ?? null) : stored(key, last);
    },
    ownedBy: (owner) => {
      const wanted = keyOf(owner);
      const found: StoredAccount[] = [...programs.values()].filter(
        (account) => keyOf(account.owner) === wanted,
      );
      for (const table of TABLE_NAMES) {
        for (const [key, value] of state[table]) {
          const last = lastWrites.get(key);
          if (last === undefined || ownerOf(table, value, where.programId) !== wanted) continue;
          found.push(stored(key, last));
        }
      }
      return found;
    },
  };
}
