import type { Store } from '../../clickhouse/client.ts';

/** Inserts rows as materialise does, with the rows of venue_accounts_by_policy and hour_writes that go with them. */
export async function insertWritten(store: Store, table: string, rows: readonly object[]): Promise<void> {
  if (table === 'venue_accounts') {
    const accounts = rows as readonly { policy: string; address: string }[];
    await store.insert(
      'venue_accounts_by_policy',
      accounts.map(({ policy, address }) => ({ policy, address })),
    );
  }
  await store.insert(table, rows);
  if (table === 'account_hours') {
    const hours = new Set((rows as readonly { hour: number }[]).map(({ hour }) => hour));
    await store.insert(
      'hour_writes',
      [...hours].map((hour) => ({ hour, written: 1 })),
    );
  }
}
