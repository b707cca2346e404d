import { hash } from 'node:crypto';
import { messageOf } from '../../../runtime/errors.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { AccountRecord, ExpectedAccount, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_READ } from '../../accounts/account-parts.ts';
import { createPatientRead, type ReadAccounts } from '../../accounts/patient-read.ts';

/** One request in this time, whatever addresses strangers choose. */
const EVERY_MS = 1_000;
/** An account is read again so much later. */
const AGAIN_AFTER_MS = 5 * 60_000;
/** Equals no real state, so that any reading is news. */
const NEVER = '';

export interface StrangerTurnsOptions {
  /** What the accounts are expected to be, as their records say. */
  expected: ExpectedAccount;
  read: ReadAccounts;
  addresses(): string[];
  /** The slot that a reading must have reached. */
  notBefore(): bigint;
  /** Told of each state that is news, before it is sent. */
  learn?: (record: AccountRecord) => void;
  send(records: readonly LogRecord[]): Promise<void>;
  everyMs?: number;
  againAfterMs?: number;
  logger: Logger;
  signal: AbortSignal;
}

export interface StrangerTurns {
  /** Another source has told of a state: the next reading is compared with that. */
  told(record: AccountRecord): void;
  /** Runs until the signal is given. */
  run(): Promise<void>;
}

interface Seen {
  /** The state that was told last, as of `slot`. */
  state: string;
  slot: bigint;
  /** When it was read. */
  at: number;
}

/**
 * Reads accounts over RPC whose addresses strangers chose, in turns and within a budget, those that were never read
 * first. A state that has not changed is not told again.
 */
export function createStrangerTurns(options: StrangerTurnsOptions): StrangerTurns {
  const { send, logger, signal, everyMs = EVERY_MS, againAfterMs = AGAIN_AFTER_MS } = options;
  const read = createPatientRead(options.read, options);
  let seen = new Map<string, Seen>();

  const turn = async (due: readonly string[], now: number) => {
    const records = await read(due, options.notBefore());
    if (records === null) return;
    const states = new Map(records.map((record) => [encodeBase58(record.address), record]));
    const changed: AccountRecord[] = [];
    for (const address of due) {
      const record = states.get(address);
      const known = seen.get(address) ?? { state: NEVER, slot: 0n };
      const isNews = record !== undefined && record.slot >= known.slot && known.state !== stateOf(record);
      if (isNews) changed.push(record);
      seen.set(address, { ...(isNews ? { state: stateOf(record), slot: record.slot } : known), at: now });
    }
    for (const record of changed) options.learn?.(record);
    if (changed.length > 0) await send(changed);
  };

  return {
    told: (record) => {
      if (seen.size === 0 || record.source !== 'rpc') return;
      const address = encodeBase58(record.address);
      const known = seen.get(address);
      if (known === undefined || record.slot < known.slot) return;
      // A state that was told with another expectation made no row of this kind: for these turns it is still news.
      const isOurs = record.expected === options.expected;
      const state = stateOf(record);
      if (isOurs || state !== known.state)
        seen.set(address, { ...known, state: isOurs ? state : NEVER, slot: record.slot });
    },
    run: async () => {
      while (!signal.aborted) {
        const now = performance.now();
        const addresses = options.addresses();
        seen = new Map(addresses.flatMap((address) => entryOf(seen, address)));
        const due = addresses
          .filter((address) => now - (seen.get(address)?.at ?? -againAfterMs) >= againAfterMs)
          .sort((a, b) => (seen.get(a)?.at ?? 0) - (seen.get(b)?.at ?? 0))
          .slice(0, ADDRESSES_PER_READ);
        if (due.length > 0) {
          try {
            await turn(due, now);
          } catch (error) {
            logger.warn({ error: messageOf(error) }, 'accounts that strangers chose were not read');
          }
        }
        await pause(everyMs, signal);
      }
    },
  };
}

function entryOf(seen: ReadonlyMap<string, Seen>, address: string): [string, Seen][] {
  const known = seen.get(address);
  return known === undefined ? [] : [[address, known]];
}

const stateOf = ({ lamports, data }: AccountRecord) => `${lamports > 0n}:${hash('sha256', data, 'base64')}`;
