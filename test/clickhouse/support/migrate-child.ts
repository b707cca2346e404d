import { openServer } from '../../../clickhouse/client.ts';
import { migrate } from '../../../clickhouse/schema/migrate.ts';

/** Migrates the database of an address and tells what was applied. */
const store = await openServer(process.argv[2] ?? '', null);
const applied = await migrate(store, null);
await store.close();
process.send?.(applied, () => process.disconnect());
