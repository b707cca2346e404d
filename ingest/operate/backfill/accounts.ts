import { inParallel } from '../../../runtime/parallel.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import type { AccountRecord, ExpectedAccount } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_READ, createAccountReader } from '../../history/account-reader.ts';
import type { LogWriter } from '../../log/port.ts';
import { createFollowedAddresses } from '../../stream/following/addresses.ts';

const READS_AT_ONCE = 4;
const RECORDS_AT_ONCE = 1_000;

export interface BackfillAccountsOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  launchpadProgramId: string;
  /** Accounts that the index knows: one that is gone by now becomes a closed state. */
  known: readonly { address: string; expected: ExpectedAccount }[];
  /** The states are of this slot or a later one. */
  notBefore: bigint;
  signal: AbortSignal;
  onProgress(done: number, total: number): void;
}

/**
 * Reads the program's accounts and everything they lead to into the log.
 * @returns how many. @throws RpcError
 */
export async function backfillAccounts(options: BackfillAccountsOptions): Promise<number> {
  const { rpc, log, programId, notBefore, signal } = options;
  const following = createFollowedAddresses(
    decodeKey(programId) as Uint8Array,
    decodeKey(options.launchpadProgramId) as Uint8Array,
  );
  for (const { address, expected } of options.known) following.add(address, expected);
  const reader = createAccountReader(rpc, following.expectedAt);
  const done = new Set<string>();
  const keep = async (records: readonly AccountRecord[]) => {
    for (const record of records) {
      following.learn(record);
      done.add(encodeBase58(record.address));
    }
    await log.append(records);
    options.onProgress(done.size, following.size());
  };

  const owned = await reader.readProgram(programId, notBefore);
  for (let at = 0; at < owned.length && !signal.aborted; at += RECORDS_AT_ONCE) {
    await keep(owned.slice(at, at + RECORDS_AT_ONCE));
  }
  // What was read leads to more: a pool to its global config; metadata lead nowhere.
  for (let left = leftOf(following.addresses(), done); left.length > 0 && !signal.aborted; ) {
    await inParallel(pagesOf(left), READS_AT_ONCE, async (addresses) => {
      if (!signal.aborted) await keep(await reader.read(addresses, notBefore));
    });
    left = leftOf(following.addresses(), done);
  }
  for (const addresses of pagesOf(following.metadataAddresses())) {
    if (!signal.aborted) await keep(await reader.readMetadata(addresses, notBefore));
  }
  return done.size;
}

const pagesOf = (addresses: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(addresses.length / ADDRESSES_PER_READ) }, (_, page) =>
    addresses.slice(page * ADDRESSES_PER_READ, (page + 1) * ADDRESSES_PER_READ),
  );

const leftOf = (addresses: readonly string[], done: ReadonlySet<string>) =>
  addresses.filter((address) => !done.has(address));
