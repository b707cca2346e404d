import { openEmbedded } from '../../../clickhouse/client.ts';
import { migrate } from '../../../clickhouse/schema/migrate.ts';

/** Inserts numbered batches until it is killed, and reports each once it is acknowledged. */
const [directory = '', first = '0', rows = '0'] = process.argv.slice(2);
const store = await openEmbedded(directory);
await migrate(store, null);
for (let batch = Number(first); ; batch += 1) {
  await store.insert(
    'account_readings',
    Array.from({ length: Number(rows) }, (_, at) => ({
      venue_account: `${batch}.${at}`,
      read_at: '1',
      venue: 'perp',
      reachable: 1,
      error: null,
      equity: '1'.repeat(60),
      notional: null,
      reason: null,
      venue_time: null,
    })),
  );
  process.send?.(batch);
}
