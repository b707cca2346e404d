import { openServer } from '../../../clickhouse/client.ts';
import { migrate } from '../../../clickhouse/schema/migrate.ts';

/** Migrates the database at a URL and reports what was applied. */
const store = await openServer(process.argv[2] ?? '', null);
const applied = await migrate(store, null);
await store.close();
process.send?.(applied, () => process.disconnect());
