import { expect, test } from 'vitest';
import type { LatestTable } from '../../../clickhouse/tables.ts';
import { latestRows } from '../../../ingest/materialise/rows/latest.ts';
import { readStates } from '../../../ingest/materialise/rows/read-states.ts';
import type { AddedColumns } from '../../../ingest/materialise/rows/same-state.ts';
import type { StoredRow } from '../../../ingest/materialise/rows/seen.ts';
import type { Stored } from '../../../ingest/materialise/rows/stored-states.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { byteKey } from '../../../schemas/solana/byte-key.ts';
import { policyBytes } from './support/accounts.ts';
import { account, key, PROGRAM, rawKey } from './support/records.ts';

/** As if an upgrade had added this column to policies. */
const COLUMN = 'target_leverage_x';
const ADDED: AddedColumns = new Map([['policies', new Set([COLUMN])]]);

const rowsOf = (record: AccountRecord, stored: Stored = new Map(), added = ADDED) =>
  latestRows(readStates([record], PROGRAM).seen, stored, added);

const SIGNATURE = new Uint8Array(64).fill(3);
const streamed = account('a', PROGRAM, policyBytes(), { slot: 100n, blockTime: 1_000, signature: SIGNATURE });
const readAt = (slot: bigint, data = policyBytes()) =>
  account('a', PROGRAM, data, { slot, blockTime: 9_000, source: 'rpc', writeVersion: (1n << 64n) - 1n });

/** The stored row of what the stream brought. */
function storedWith(change: Record<string, unknown>): Stored {
  const [row] = rowsOf(streamed).tables.get('policies') ?? [];
  const known = { ...row, block_time: String(row?.block_time), ...change } as unknown as StoredRow;
  return new Map([[byteKey(rawKey('a')), new Map<LatestTable, StoredRow>([['policies', known]])]]);
}

test('a reading that differs only in a newly added column fills it and is no unseen change', () => {
  const { tables, unseen } = rowsOf(readAt(900n), storedWith({ [COLUMN]: null }));
  expect(unseen).toEqual([]);
  const [row] = rowsOf(streamed).tables.get('policies') ?? [];
  const version = rowsOf(readAt(900n)).tables.get('policies')?.[0]?.version;
  expect(tables.get('policies')).toEqual([{ ...row, version, [COLUMN]: 3 }]);
});

const withAgent = policyBytes({ agent: key('agent') });

test.each([
  ['with another value in an older field', { [COLUMN]: null, hwm: '5' }, policyBytes(), ADDED],
  ['with another value in the added field', { [COLUMN]: 2 }, policyBytes(), ADDED],
  ['with null in a nullable field that the reading has', {}, withAgent, ADDED],
  ['with null in a field that no upgrade added', { [COLUMN]: null }, policyBytes(), new Map()],
])('a reading against a stored row %s is an unseen change', (_, change, data, added) => {
  const { tables, unseen } = rowsOf(readAt(900n, data), storedWith(change), added);
  expect(unseen).toMatchObject([{ after_slot: '100', to_slot: '900' }]);
  expect(tables.get('policies')).toMatchObject([{ slot: '900', block_time: 9_000, source: 'rpc' }]);
});
