import '../runtime/node-version.ts';
import { openServer } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { loadConfig, required } from '../runtime/config.ts';
import { readFlags } from '../runtime/flags.ts';
import { runMain } from '../runtime/lifecycle.ts';

const COMMAND = {
  usage: 'npm run migrate',
  about:
    'Brings the ClickHouse of CLICKHOUSE_URL to the current schema. Safe to repeat and to run twice at once.',
  flags: {},
} as const;

await runMain(async () => {
  readFlags(COMMAND, process.argv.slice(2));
  const config = loadConfig();
  const url = required(
    config.clickhouseUrl,
    'CLICKHOUSE_URL',
    'npm start migrates its embedded engine by itself',
  );
  const store = await openServer(url, config.clickhouseCluster);
  const applied = await migrate(store, config.clickhouseCluster);
  await store.close();
  process.stdout.write(applied.length === 0 ? 'already current\n' : `applied ${applied.join(', ')}\n`);
});
