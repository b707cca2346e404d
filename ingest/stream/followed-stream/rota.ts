import { hash } from 'node:crypto';
import { messageOf } from '../../../runtime/errors.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { backoffMs } from '../../../runtime/retry.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { isInitialisedMint, tokenKindOf } from '../../../schemas/solana/token.ts';
import { ADDRESSES_PER_READ } from '../../accounts/account-parts.ts';
import { type AccountReader, MOST_BALANCE_BYTES } from '../../accounts/account-reader.ts';
import { createPatientRead } from '../../accounts/patient-read.ts';

/**
 * The budget of the rota: a hundred accounts in this time, in one request. A second request where balances that
 * strangers name are among them, and one more for the rest of the bytes where something else than a balance has come to
 * stand at those.
 */
const ROTA_EVERY_MS = 500;

export interface RotaOptions {
  reader: AccountReader;
  /** The slot that a reading must have reached. */
  notBefore(): bigint;
  onRead(records: readonly AccountRecord[]): Promise<void>;
  /** These are read in turns from now on. */
  onJoined(addresses: readonly string[]): void;
  /** These are not read in turns any more; `read`: those of them of which a state was read, or told by another. */
  onLeft(addresses: readonly string[], read: readonly string[]): void;
  everyMs?: number;
  logger: Logger;
  signal: AbortSignal;
}

export interface Rota {
  /** The addresses that are read in turns from now on. */
  set(addresses: readonly string[]): void;
  /** Adds an address, or takes one out, without going through the others: strangers name them one by one. */
  join(address: string): void;
  leave(address: string): void;
  /**
   * Calls `allRead` once each address was read at that slot or later, or was left out of such a turn: one that cannot
   * be read holds up no others, and counts as lost until it is read. A further call takes the place of one that waits.
   */
  round(notBefore: bigint, allRead: () => void): void;
  /** Another source has told of a state: the next reading is compared with that. */
  told(record: AccountRecord): void;
}

interface Told {
  slot: bigint;
  state: string;
}

interface Round {
  unread: Set<string>;
  notBefore: bigint;
  allRead(): void;
}

/**
 * What a reading is compared by. Where something else stands at a named balance, all that counts is its owner, and
 * whether it exists, has data and is a mint, whatever else changes.
 */
function stateOf(record: AccountRecord): string {
  const { expected, lamports, owner, data } = record;
  const of = encodeBase58(owner);
  if (expected === 'token_account' && tokenKindOf(record) !== 'account')
    return `${lamports > 0n}:${of}:${data.length > 0}:${isInitialisedMint(record)}`;
  // The turns of mints and metadata may have read more of a token account.
  const bytes = tokenKindOf(record) === 'account' ? data.subarray(0, MOST_BALANCE_BYTES) : data;
  return `${lamports}:${of}:${hash('sha256', bytes, 'base64')}`;
}

/**
 * Reads addresses that no stream carries over RPC, in turns and within a budget, for as long as there are any. A state
 * that has not changed is not told again.
 */
export function createRota(options: RotaOptions): Rota {
  const { reader, onRead, onJoined, onLeft, logger, signal, everyMs = ROTA_EVERY_MS } = options;
  const patientRead = createPatientRead(
    (addresses, notBefore) => reader.read(addresses, notBefore, isOther),
    options,
  );
  let states = new Map<string, Told | null>();
  /** Addresses that had no turn yet: they come before the others. */
  let fresh = new Set<string>();
  /** The next to read come first. */
  let queue = new Set<string>();
  let running = false;
  let round: Round | null = null;

  /** Compares a record with what is known of its address; null where that is newer, or the address is not read here. */
  const compared = (record: AccountRecord) => {
    const address = encodeBase58(record.address);
    const known = states.get(address);
    const { slot } = record;
    if (known === undefined || (known !== null && slot < known.slot)) return null;
    const state = stateOf(record);
    return { address, told: { slot, state }, isOther: known?.state !== state };
  };
  const isOther = (record: AccountRecord) => compared(record)?.isOther === true;
  /** @param isTold the log has it, whether it is news or not */
  const isNews = (record: AccountRecord, isTold: boolean) => {
    const found = compared(record);
    // An unchanged reading does not go into the log, which keeps the state as of the slot that it was told of: what
    // comes late behind that slot is the newest there.
    if (found === null || (!found.isOther && !isTold)) return false;
    states.set(found.address, found.told);
    return found.isOther;
  };
  const turn = async () => {
    const some = nextOf(fresh, queue);
    // Moved to the end before the read: a `set` meanwhile finds every address in the queue.
    for (const address of some) {
      fresh.delete(address);
      queue.delete(address);
      queue.add(address);
    }
    const of = round;
    const least = options.notBefore();
    const notBefore = of !== null && of.notBefore > least ? of.notBefore : least;
    const records = await patientRead(some, notBefore);
    if (records === null) return;
    const changed = records.filter((record) => isNews(record, false));
    if (changed.length > 0) await onRead(changed);
    if (of !== null) passed(of, some);
  };
  const passed = (of: Round, some: readonly string[]) => {
    for (const address of some) of.unread.delete(address);
    if (round !== of || of.unread.size > 0) return;
    round = null;
    of.allRead();
  };
  const run = async () => {
    running = true;
    let failures = 0;
    while (states.size > 0 && !signal.aborted) {
      try {
        await turn();
        failures = 0;
      } catch (error) {
        failures += 1;
        logger.warn({ failures, error: messageOf(error) }, 'accounts that no stream carries were not read');
        await pause(backoffMs(failures), signal);
      }
      await pause(everyMs, signal);
    }
    running = false;
  };
  const start = () => {
    if (!running && states.size > 0) void run();
  };

  return {
    told: (record) => void (states.size > 0 && isNews(record, true)),
    round: (notBefore, allRead) => {
      round = { unread: new Set(states.keys()), notBefore, allRead };
      passed(round, []);
    },
    set: (addresses) => {
      const joined = addresses.filter((address) => !states.has(address));
      const before = states;
      states = new Map(addresses.map((address) => [address, before.get(address) ?? null]));
      const left = [...before].filter(([address]) => !states.has(address));
      const addressesOf = (some: typeof left) => some.map(([address]) => address);
      onLeft(addressesOf(left), addressesOf(left.filter(([, told]) => told !== null)));
      if (joined.length > 0) onJoined(joined);
      const stays = (address: string) => states.has(address);
      fresh = new Set([...joined, ...[...fresh].filter(stays)]);
      queue = new Set([...queue].filter(stays));
      for (const address of round?.unread ?? []) if (!states.has(address)) round?.unread.delete(address);
      start();
    },
    join: (address) => {
      if (states.has(address)) return;
      states.set(address, null);
      onJoined([address]);
      fresh.add(address);
      start();
    },
    leave: (address) => {
      const told = states.get(address);
      if (told === undefined) return;
      states.delete(address);
      onLeft([address], told === null ? [] : [address]);
      fresh.delete(address);
      queue.delete(address);
      round?.unread.delete(address);
    },
  };
}

function nextOf(...queues: readonly ReadonlySet<string>[]): string[] {
  const next: string[] = [];
  for (const queue of queues)
    for (const address of queue) {
      if (next.length === ADDRESSES_PER_READ) return next;
      next.push(address);
    }
  return next;
}
