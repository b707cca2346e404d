import type { LatestColumns, LatestTable, StateRow } from '../../../clickhouse/tables.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import type { AccountRecord, DeadLetterRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { EXPECTED_TABLES, type LatestState, readAccount } from './account.ts';

export type LatestRow = StateRow & Partial<LatestColumns[LatestTable]>;

export interface LatestRows {
  /** Rows by table, the newest good state of each address only; the first columns alone where no account stands. */
  tables: Map<LatestTable, LatestRow[]>;
  /** Addresses where nothing stands and nothing said what was expected there. */
  gone: Map<string, StateRow>;
  deadLetters: DeadLetterRecord[];
}

interface Newest {
  record: AccountRecord;
  version: bigint;
  reading: LatestState | 'missing';
}

/** Order of the states of an address: by slot, inside it by write_version. */
export function versionOf(record: Pick<AccountRecord, 'slot' | 'writeVersion'>): bigint {
  return (record.slot << 64n) | record.writeVersion;
}

/** What a batch of account states writes: every state is read, the newest good one of an address is kept. */
export function latestRows(records: readonly AccountRecord[], programId: Uint8Array): LatestRows {
  const newest = new Map<string, Newest>();
  const deadLetters: DeadLetterRecord[] = [];
  for (const record of records) {
    try {
      const reading = readAccount(record, programId);
      if (reading === 'foreign') continue;
      const key = Buffer.from(record.address).toString('latin1');
      const version = versionOf(record);
      const known = newest.get(key);
      if (known === undefined) newest.set(key, { record, version, reading });
      else if (known.version > version) continue;
      // A reading of the same state moves nothing but the version.
      else
        newest.set(
          key,
          isReadAgain(known.record, record) ? { ...known, version } : { record, version, reading },
        );
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      deadLetters.push(deadAccount(record, error));
    }
  }
  const tables = new Map<LatestTable, LatestRow[]>();
  const gone = new Map<string, StateRow>();
  for (const { record, version, reading } of newest.values()) {
    const row = firstColumns(record, version, reading !== 'missing');
    const { expected } = record;
    if (reading !== 'missing') push(tables, reading.table, Object.assign(row, reading.columns()));
    else if (expected === null || expected === 'program') gone.set(row.address, row);
    else push(tables, EXPECTED_TABLES[expected], row);
  }
  return { tables, gone, deadLetters };
}

function isReadAgain(known: AccountRecord, record: AccountRecord): boolean {
  return (
    record.source === 'rpc' &&
    (known.lamports === 0n) === (record.lamports === 0n) &&
    Buffer.compare(known.owner, record.owner) === 0 &&
    Buffer.compare(known.data, record.data) === 0
  );
}

function push(tables: Map<LatestTable, LatestRow[]>, table: LatestTable, row: LatestRow): void {
  const rows = tables.get(table);
  if (rows === undefined) tables.set(table, [row]);
  else rows.push(row);
}

function firstColumns(record: AccountRecord, version: bigint, exists: boolean): StateRow {
  return {
    address: encodeBase58(record.address),
    slot: record.slot.toString(),
    version: version.toString(),
    block_time: record.blockTime,
    source: record.source,
    exists: exists ? 1 : 0,
  };
}

function deadAccount(record: AccountRecord, error: MalformedError): DeadLetterRecord {
  return {
    kind: 'dead-letter',
    source: record.source,
    what: `account:${error.what}`,
    where: encodeBase58(record.address),
    reason: error.message,
    slot: record.slot,
    // What stands where a stranger's mint points is nothing to keep.
    bytes: record.expected === 'metadata' ? new Uint8Array(0) : record.data,
  };
}
