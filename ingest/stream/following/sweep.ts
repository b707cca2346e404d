import { chunks } from '../../../runtime/chunks.ts';
import { inParallel } from '../../../runtime/parallel.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { retryUntilDone } from '../../../runtime/retry.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_READ } from '../../history/accounts/account-parts.ts';
import type { AccountReader } from '../../history/accounts/account-reader.ts';
import { createPatientRead } from '../../history/accounts/patient-read.ts';
import { behindStream, newestSlot } from './behind-stream.ts';

const READS_AT_ONCE = 4;
const RECORDS_AT_ONCE = 1_000;
/** A node that refuses to list the program's accounts is asked again so much later. */
const RELIST_MS = 60_000;

export interface SweeperOptions {
  reader: AccountReader;
  programId: string;
  /** Addresses that are followed now, but for mints. */
  addresses(): string[];
  mints(): string[];
  /** The slot up to which the stream has brought everything; null before one. */
  brought(): bigint | null;
  /** Whether the program's accounts could not be listed, each time that they were asked for. */
  onListed(isRefused: boolean): void;
  /** Accounts of the program that are known by name alone: read where no node lists them. */
  named(): Promise<string[]>;
  relistMs?: number;
  /** Called with every state that was read, before it is sent. */
  learn(records: readonly AccountRecord[]): void;
  send(records: readonly LogRecord[]): Promise<void>;
  logger: Logger;
  signal: AbortSignal;
}

export interface Sweeper {
  /** Reads these at that slot or later and sends what stands there. Tries until done or the signal is given. */
  read(addresses: readonly string[], notBefore: bigint): Promise<void>;
  /**
   * Has everything read at that slot or later: the program's accounts, then the followed addresses that are none of
   * them, so that a known account that is gone becomes a closed state. One sweep at a time; a request meanwhile is
   * another sweep after it.
   */
  request(notBefore: bigint): void;
}

export function createSweeper(options: SweeperOptions): Sweeper {
  const { reader, learn, send, signal } = options;
  const patientRead = createPatientRead(reader.read, options);
  const readMints = createPatientRead(
    (addresses, notBefore) => reader.readOfStrangers(addresses, notBefore, 'mint'),
    options,
  );
  let wanted: bigint | null = null;
  let running = false;

  const sendBehind = async (records: readonly AccountRecord[]) => {
    await behindStream(newestSlot(records), options.brought, signal);
    await send(records);
  };

  const readBy = async (by: typeof patientRead, addresses: readonly string[], notBefore: bigint) => {
    await inParallel(chunks(addresses, ADDRESSES_PER_READ), READS_AT_ONCE, async (some) => {
      const records = await by(some, notBefore);
      if (records === null) return;
      learn(records);
      await sendBehind(records);
    });
  };

  const read = (addresses: readonly string[], notBefore: bigint) => readBy(patientRead, addresses, notBefore);

  /** Where nobody lists what there is, what is known or named is read one by one all the same. */
  const list = async (notBefore: bigint): Promise<AccountRecord[]> => {
    try {
      const owned = await reader.readProgram(options.programId, notBefore);
      options.onListed(false);
      return owned;
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== 'refused') throw error;
      options.logger.error({ error: error.message }, 'no node lists the accounts of the program');
      options.onListed(true);
      void pause(options.relistMs ?? RELIST_MS, signal).then(() => request(notBefore));
      await read(await options.named(), notBefore);
      return [];
    }
  };

  const sweep = async (notBefore: bigint) => {
    // Addresses that come up on the way are newcomers, and read when the filter has them.
    const followed = options.addresses();
    const owned = await retryUntilDone('reading the accounts of the program', () => list(notBefore), options);
    if (owned === null) return;
    learn(owned);
    for (const some of chunks(owned, RECORDS_AT_ONCE)) await sendBehind(some);
    const found = new Set(owned.map(({ address }) => encodeBase58(address)));
    await read(
      followed.filter((address) => !found.has(address)),
      notBefore,
    );
    await readBy(readMints, options.mints(), notBefore);
  };

  const run = async () => {
    running = true;
    while (wanted !== null && !signal.aborted) {
      const notBefore = wanted;
      wanted = null;
      await sweep(notBefore);
    }
    running = false;
  };

  const request = (notBefore: bigint) => {
    wanted = wanted === null || notBefore > wanted ? notBefore : wanted;
    if (!running && !signal.aborted) void run();
  };

  return { read, request };
}
