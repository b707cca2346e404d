import { MalformedError } from '../../../schemas/malformed.ts';
import type { AccountRecord, DeadLetterRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { byteKey } from '../../../schemas/solana/byte-key.ts';
import { type AccountReading, EXPECTED_TABLES, readAccount, tableOfGone } from './account.ts';
import { createMarks, type MarkRow } from './high-water-marks.ts';
import { type SeenState, versionOf } from './seen.ts';

/** What a batch of account states says by itself, before it is compared with stored rows. */
export interface BatchStates {
  /** The good ones of accounts of ours, in the order of the log. */
  seen: SeenState[];
  marks: MarkRow[];
  deadLetters: DeadLetterRecord[];
}

export function readStates(records: readonly AccountRecord[], programId: Uint8Array): BatchStates {
  const seen: SeenState[] = [];
  const deadLetters: DeadLetterRecord[] = [];
  const marks = createMarks();
  for (const record of records) {
    try {
      const reading = readAccount(record, programId);
      if (reading === 'foreign') continue;
      const key = byteKey(record.address);
      if (reading !== 'missing' && reading.mark !== undefined) marks.add(key, record, reading.mark);
      seen.push(seenOf(key, record, reading, tableOf(record, reading)));
      const gone = reading === 'missing' ? null : tableOfGone(record, reading);
      if (gone !== null) seen.push(seenOf(key, record, 'missing', gone));
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      deadLetters.push(deadAccount(record, error));
    }
  }
  return { seen, marks: marks.rows(), deadLetters };
}

const seenOf = (
  key: string,
  record: AccountRecord,
  reading: SeenState['reading'],
  table: SeenState['table'],
): SeenState => ({
  ...{ key, record, version: versionOf(record), reading, table },
  ...{ seenAt: record.blockTime, kept: null, novelty: 'new' },
});

function tableOf(
  { expected }: AccountRecord,
  reading: Exclude<AccountReading, 'foreign'>,
): SeenState['table'] {
  if (reading !== 'missing') return reading.table;
  return expected === null || expected === 'program' ? '' : EXPECTED_TABLES[expected];
}

function deadAccount(record: AccountRecord, error: MalformedError): DeadLetterRecord {
  return {
    kind: 'dead-letter',
    source: record.source,
    what: `account:${error.what}`,
    where: encodeBase58(record.address),
    reason: error.message,
    slot: record.slot,
    bytes: isOfStrangers(record, error) ? new Uint8Array(0) : record.data,
  };
}

/** Bytes at an address that a stranger chose need not be kept, nor those of a balance that no token program owns. */
const isOfStrangers = ({ expected }: AccountRecord, { what }: MalformedError): boolean =>
  expected === 'metadata' || expected === 'mint' || what === 'token_account';
