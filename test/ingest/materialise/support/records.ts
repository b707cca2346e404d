import { createHash } from 'node:crypto';
import type { LogBatch, LogEntry, Topic } from '../../../../ingest/log/port.ts';
import type {
  AccountRecord,
  LogRecord,
  MarkerRecord,
  TransactionRecord,
} from '../../../../schemas/records.ts';
import { encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { toGeyser } from '../../../schemas/support/encode-transaction.ts';
import { type KitValue, kitEncode } from '../../../schemas/support/kit-codecs.ts';
import { ours, PROGRAM } from '../../../schemas/support/program-calls.ts';
import { type Run, run } from '../../../schemas/support/run.ts';

export { PROGRAM };

export const rawKey = (name: string): Uint8Array =>
  Uint8Array.from(createHash('sha256').update(name).digest());
export const key = (name: string): string => encodeBase58(rawKey(name));
export const rawSignature = (name: string): Uint8Array =>
  Uint8Array.from(createHash('sha512').update(name).digest());

/** Ten seconds before a midnight of UTC. */
export const EVENING = Date.UTC(2026, 4, 5, 23, 59, 50) / 1000;

/** An event of the policy of a mint. */
export function event(name: string, fields: KitValue, mint = 'mint'): Uint8Array {
  const of = { policy: key(`policy of ${mint}`), mint: key(mint), quoteMint: key('quote') };
  return kitEncode(name, { ...of, ...fields });
}

export const routed = (amount: bigint, mint = 'mint'): Uint8Array =>
  event('Routed', { amount, protocolCut: amount, toLp: amount, toBankroll: amount }, mint);

/** A transaction of the program that emits these events, or that makes these calls. */
export function transaction(
  name: string,
  slot: bigint,
  what: Uint8Array[] | Run[],
  change: Partial<TransactionRecord> = {},
): TransactionRecord {
  const calls = what.map((one) => (one instanceof Uint8Array ? ours({ emit: one }) : one));
  return {
    kind: 'transaction',
    source: 'stream',
    slot,
    blockTime: EVENING,
    signature: rawSignature(name),
    index: 1,
    order: 0,
    format: 'geyser',
    payload: toGeyser(run(calls), false),
    ...change,
  };
}

export function account(
  name: string,
  owner: Uint8Array,
  data: Uint8Array,
  change: Partial<AccountRecord> = {},
): AccountRecord {
  return {
    kind: 'account',
    source: 'stream',
    slot: 10n,
    blockTime: EVENING,
    address: rawKey(name),
    owner,
    lamports: 1n,
    data,
    writeVersion: 1n,
    signature: null,
    expected: null,
    ...change,
  };
}

export const marker = (slot: bigint): MarkerRecord => ({
  kind: 'marker',
  slot,
  parent: slot - 1n,
  blockTime: EVENING,
});

export function logOf(records: readonly LogRecord[], first = 0n): LogEntry[] {
  return records.map((record, at) => ({ offset: first + BigInt(at), record }));
}

export function batchOf(
  topic: Topic,
  entries: readonly LogEntry[],
  change: Partial<LogBatch> = {},
): LogBatch {
  return { topic, partition: 0, entries: [...entries], owned: () => true, ...change };
}
