import { chunks } from '../../../runtime/chunks.ts';
import { inParallel } from '../../../runtime/parallel.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { configAddress } from '../../../schemas/solana/pda.ts';
import { ADDRESSES_PER_READ } from '../../accounts/account-parts.ts';
import { createAccountReader } from '../../accounts/account-reader.ts';
import { createPatientList } from '../../accounts/patient-list.ts';
import { addressesWithoutRecord, createPatientRead, type ReadAccounts } from '../../accounts/patient-read.ts';
import type { LogWriter } from '../../log/port.ts';
import { createFollowedAddresses } from '../../stream/following/addresses.ts';
import type { KnownAccount } from '../../stream/stored-state.ts';
import { belongsInList, lacksOf } from '../../stream/sweeps/list-lacks.ts';

const READS_AT_ONCE = 4;
const RECORDS_AT_ONCE = 1_000;

export interface BackfillAccountsOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  launchpadProgramId: string;
  /** Accounts that the index knows: one that is gone by now becomes a closed state. */
  known: readonly KnownAccount[];
  /** The states are of this slot or a later one. */
  notBefore: bigint;
  logger: Logger;
  signal: AbortSignal;
  onProgress(done: number, total: number): void;
  /** For how many milliseconds a list that fails is tried again. */
  patienceMs?: number;
}

export interface BackfilledAccounts {
  accounts: number;
  /** Why no node listed the program's accounts, in its words: only known ones are read then. Null where one did. */
  unlisted: string | null;
  /** Whether the list lacks accounts that exist: of these only those are read that something names. */
  isPart: boolean;
  /** Accounts that could not be read, base58. */
  leftOut: readonly string[];
}

/** Reads the program's accounts and everything they lead to into the log. @throws RpcError */
export async function backfillAccounts(options: BackfillAccountsOptions): Promise<BackfilledAccounts> {
  const { rpc, log, programId, notBefore, signal } = options;
  const program = decodeKey(programId) as Uint8Array;
  const following = createFollowedAddresses(program, decodeKey(options.launchpadProgramId) as Uint8Array);
  for (const { address, expected, named } of options.known) following.add(address, expected, named);
  const reader = createAccountReader(rpc, following);
  const done = new Set<string>();
  const keep = async (records: readonly AccountRecord[]) => {
    for (const record of records) {
      following.learn(record);
      done.add(encodeBase58(record.address));
    }
    await log.append(records);
    options.onProgress(done.size, following.size());
  };
  let unlisted: string | null = null;
  let isPart = false;
  const left: string[] = [];
  const pageReader = (read: ReadAccounts) => {
    const patient = createPatientRead(read, options);
    return async (addresses: readonly string[]) => {
      const records = signal.aborted ? null : await patient(addresses, notBefore);
      if (records === null) return;
      isPart ||= unlisted === null && records.some(isOfProgram);
      left.push(...addressesWithoutRecord(addresses, records));
      await keep(records);
    };
  };
  const readPage = pageReader(reader.read);
  const [readMints, readMetadata] = (['mint', 'metadata'] as const).map((expected) =>
    pageReader((addresses, at) => reader.readUntrusted(addresses, at, expected)),
  ) as [typeof readPage, typeof readPage];

  const isOfProgram = belongsInList(program);
  const listed = (await createPatientList(reader, programId, options)(notBefore)) ?? [];
  const owned = 'why' in listed ? [] : listed;
  if ('why' in listed) unlisted = listed.words;
  const lacks = lacksOf(program, owned);
  isPart = lacks.short > 0;
  for (const address of [...lacks.named, encodeBase58(configAddress(program))])
    following.add(address, 'program');
  for (const some of chunks(owned, RECORDS_AT_ONCE)) {
    if (signal.aborted) break;
    await keep(some);
  }
  // What was read leads to more: a pool to its global config; metadata lead nowhere.
  const unread = () => {
    const out = new Set([...done, ...left]);
    return [...following.streamed(), ...following.namedBalances()].filter((address) => !out.has(address));
  };
  for (let some = unread(); some.length > 0 && !signal.aborted; some = unread())
    await inParallel(pagesOf(some), READS_AT_ONCE, readPage);
  for (const addresses of pagesOf(following.mints())) await readMints(addresses);
  for (const addresses of pagesOf(following.metadata())) await readMetadata(addresses);
  return { accounts: done.size, unlisted, isPart, leftOut: left };
}

const pagesOf = (addresses: readonly string[]) => chunks(addresses, ADDRESSES_PER_READ);
