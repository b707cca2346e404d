import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { auditHours } from '../../../ingest/operate/audit/checks/hours.ts';
import type { AuditContext } from '../../../ingest/operate/audit/context.ts';
import { createReport } from '../../../ingest/operate/audit/report.ts';
import { HOUR_S } from '../../../schemas/units.ts';
import { key, SLOT, TIME, tokenAccountRow } from '../../api/support/rows.ts';
import { freshDatabase } from '../../support/database.ts';

const MENDED = 1_200;
const LEFT = 1_300;
const addresses = Array.from({ length: MENDED + LEFT }, (_, at) => key(`account ${at}`));

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
  await store.insert(
    'token_accounts',
    addresses.map((address) => tokenAccountRow(address, '2')),
  );
  await store.insert('account_hours', addresses.map(hourOf('1')));
});
afterAll(() => store.close());

const hourOf =
  (amount: string, slot = SLOT) =>
  (address: string) => ({
    ...{ address, amount, hour: Math.floor(TIME / Number(HOUR_S)), version: String(slot << 64n) },
    ...{ block_time: TIME, exists: 1, held_in: 'token_accounts' },
  });

test('of more differing accounts than one recheck takes, those that still differ are reported, and no others', async () => {
  const mended = addresses.slice(0, MENDED);
  let looks = 0;
  const query: Store['query'] = async (sql, params) => {
    const rows = await store.query<never>(sql, params);
    if (!sql.includes('FROM token_accounts AS l')) return rows;
    looks += 1;
    // Rows written between the two queries of the first look.
    if (looks === 1) await store.insert('account_hours', mended.map(hourOf('2')));
    return rows;
  };
  const lines: string[] = [];
  const report = createReport((line) => void lines.push(line));
  const context: Partial<AuditContext> = {
    ...{ store: { ...store, query }, report, pauseMs: 0, signal: new AbortController().signal },
  };
  await auditHours(context as AuditContext);
  const told = lines.map((line) => /account_hours\.amount of (\S+) {2}kept 1 {2}served 2/.exec(line)?.[1]);
  expect(told.toSorted()).toEqual(addresses.slice(MENDED).toSorted());
  expect(report.summary()).toMatch(/ 5000 hours,.*; 1300 differences$/);
});
