import { RpcError } from '../../runtime/rpc/error.ts';
import type { RpcAccount } from '../../runtime/rpc/replies.ts';
import type { ReadOptions, Rpc } from '../../runtime/rpc/rpc.ts';
import { MOST_AHEAD } from '../../runtime/rpc/same-chain.ts';
import { ACCOUNT_PREFIXES, accountType } from '../../schemas/program/accounts.ts';
import type { AccountRecord, ExpectedAccount } from '../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../schemas/solana/base58.ts';
import { isTokenProgram, tokenKindOf } from '../../schemas/solana/token.ts';
import { type AccountsPart, createPartsReader } from './account-parts.ts';
import { blockTimeOrNull } from './block-time.ts';

/** An rpc read stands at the end of its slot. */
const RPC_WRITE_VERSION = (1n << 64n) - 1n;
/** The most that is read of an account whose address a stranger chose. */
const MOST_STRANGERS_BYTES = 64 * 1024;
/**
 * The most that is read at first where a stranger alone names a balance: that may be any large account. A token account
 * tells all within these bytes, and an account that is recognised by its length alone is shorter.
 */
export const MOST_BALANCE_BYTES = 512;
const SYSTEM = new Uint8Array(32);

/** Reads accounts over RPC as records of the log, at a slot that is `notBefore` or later. @throws RpcError */
export interface AccountReader {
  /**
   * At most ADDRESSES_PER_READ; an address without an account gives a record without lamports. Where a stranger named a
   * balance, no more than MOST_BALANCE_BYTES is read. If a mint or an account of the program stands there, and `isNews`
   * says so, the rest of it is read, too; if it is no news, the answer leaves it out.
   */
  read(
    addresses: readonly string[],
    notBefore: bigint,
    isNews?: (record: AccountRecord) => boolean,
  ): Promise<AccountRecord[]>;
  /** The same for accounts whose addresses strangers chose: of a large one at most MOST_STRANGERS_BYTES. */
  readUntrusted(
    addresses: readonly string[],
    notBefore: bigint,
    expected: 'mint' | 'metadata',
  ): Promise<AccountRecord[]>;
  /** Every account that the program owns, or the first `mostBytes` of each. */
  readProgram(programId: string, notBefore: bigint, mostBytes?: number): Promise<AccountRecord[]>;
  /** The same in several requests, one for each kind of account. */
  readByPrefix(programId: string, notBefore: bigint): Promise<AccountRecord[]>;
}

/** What the addresses that are read are followed as. */
export interface ReadAs {
  expectedAt(address: Uint8Array): ExpectedAccount | null;
  /** Whether a stranger alone says that a balance stands there; absent where no such are read. */
  isNamed?(address: Uint8Array): boolean;
  /** The program whose accounts a stranger may name as a balance. */
  programId?: Uint8Array;
}

interface Place {
  slot: bigint;
  blockTime: number | null;
  /** Null: as the address is followed. */
  expected: ExpectedAccount | null;
}

/** What was answered of an address; null: no account stands there. */
export const rpcRecord = (
  account: RpcAccount | null,
  { slot, blockTime, address, expected }: Pick<AccountRecord, 'slot' | 'blockTime' | 'address' | 'expected'>,
): AccountRecord => ({
  kind: 'account',
  source: 'rpc',
  slot,
  blockTime,
  address,
  owner: account?.owner ?? SYSTEM,
  lamports: account?.lamports ?? 0n,
  data: account?.data ?? new Uint8Array(0),
  writeVersion: RPC_WRITE_VERSION,
  signature: null,
  expected,
});

/** A node may send more bytes than it was asked for. */
const shortenedTo =
  (mostBytes: number) =>
  (account: RpcAccount | null): RpcAccount | null =>
    account === null ? null : { ...account, data: account.data.subarray(0, mostBytes) };

/**
 * Whether a named balance is something else, of which the bytes beyond the bound matter: a mint, or an account of the
 * program.
 */
const isCutOf = (programId: Uint8Array | undefined) => (record: AccountRecord) => {
  const { owner, data } = record;
  if (data.length < MOST_BALANCE_BYTES) return false;
  if (isTokenProgram(owner)) return tokenKindOf(record) === 'mint';
  return programId !== undefined && Buffer.compare(owner, programId) === 0 && accountType(data) !== null;
};

/**
 * @param timeOf unix seconds of a slot; null where nobody knows.
 * @param newest the newest slot of the chain that is known from elsewhere, which may be a later one than is asked for: a
 * log may have ended days ago. Null where none is.
 */
export function createAccountReader(
  rpc: Rpc,
  { expectedAt, isNamed = () => false, programId: ours }: ReadAs,
  timeOf: (slot: bigint) => Promise<number | null> = (slot) => blockTimeOrNull(rpc, slot),
  newest: () => bigint | null = () => null,
): AccountReader {
  /** Options for a read at a slot. Where nothing is known of the chain an answer may be of any slot. */
  const at = (notBefore: bigint): ReadOptions => {
    const known = newest() ?? 0n;
    const last = known > notBefore ? known : notBefore;
    return { minContextSlot: notBefore, ...(last > 0n ? { mostContextSlot: last + MOST_AHEAD } : {}) };
  };
  const toRecord = (
    address: string,
    account: RpcAccount | null,
    { slot, blockTime, expected }: Place,
  ): AccountRecord => {
    const key = decodeKey(address) as Uint8Array;
    return rpcRecord(account, { slot, blockTime, address: key, expected: expected ?? expectedAt(key) });
  };
  const readParts = createPartsReader(rpc);
  const recordsOf = async (
    parts: readonly AccountsPart[],
    expected: ExpectedAccount | null,
    shape: (account: RpcAccount | null) => RpcAccount | null,
  ) => {
    const records: AccountRecord[] = [];
    for (const { addresses, slot, accounts } of parts) {
      const place = { slot, blockTime: await timeOf(slot), expected };
      addresses.forEach((address, at) => {
        records.push(toRecord(address, shape(accounts[at] ?? null), place));
      });
    }
    return records;
  };
  const readBounded = async (
    addresses: readonly string[],
    notBefore: bigint,
    mostBytes: number,
    expected: ExpectedAccount | null,
  ) => {
    const parts = await readParts(addresses, { ...at(notBefore), mostBytes });
    return recordsOf(parts, expected, shortenedTo(mostBytes));
  };
  const isCut = isCutOf(ours);
  const readBalances = async (
    addresses: readonly string[],
    notBefore: bigint,
    isNews: (record: AccountRecord) => boolean,
  ) => {
    const records = await readBounded(addresses, notBefore, MOST_BALANCE_BYTES, null);
    const whole = records.filter((record) => !isCut(record));
    const news = records.filter((record) => isCut(record) && isNews(record));
    if (news.length === 0) return whole;
    const again = news.map(({ address }) => encodeBase58(address));
    return [...whole, ...(await readBounded(again, notBefore, MOST_STRANGERS_BYTES, null))];
  };
  const readOwned = async (programId: string, options: ReadOptions) => {
    const { slot, accounts } = await rpc.getProgramAccounts(programId, options);
    const place = { slot, blockTime: await timeOf(slot), expected: null };
    return accounts.map(({ address, account }) => toRecord(address, account, place));
  };
  const readByPrefix = async (programId: string, options: ReadOptions) => {
    const records: AccountRecord[] = [];
    for (const prefix of ACCOUNT_PREFIXES)
      records.push(...(await readOwned(programId, { ...options, prefix })));
    return records;
  };
  return {
    read: async (addresses, notBefore, isNews = () => true) => {
      const named = new Set(addresses.filter((address) => isNamed(decodeKey(address) as Uint8Array)));
      const others = addresses.filter((address) => !named.has(address));
      const parts = await readParts(others, at(notBefore));
      return [
        ...(await recordsOf(parts, null, (account) => account)),
        ...(await readBalances([...named], notBefore, isNews)),
      ];
    },
    readUntrusted: (addresses, notBefore, expected) =>
      readBounded(addresses, notBefore, MOST_STRANGERS_BYTES, expected),
    readProgram: async (programId, notBefore, mostBytes) => {
      const options = { ...at(notBefore), ...(mostBytes === undefined ? {} : { mostBytes }) };
      try {
        return await readOwned(programId, options);
      } catch (error) {
        if (!(error instanceof RpcError) || error.kind !== 'refused') throw error;
        // Many providers list no program's accounts without a filter.
        return readByPrefix(programId, options);
      }
    },
    readByPrefix: (programId, notBefore) => readByPrefix(programId, at(notBefore)),
  };
}
