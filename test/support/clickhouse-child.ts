import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serveClickHouse } from './clickhouse-front.ts';

/**
 * The engine as a process of its own: `node clickhouse-child.ts <port> <directory> <config>`. It ends with its parent.
 * Where the directory is the empty string, it makes a temporary one and deletes it at the end.
 */
const [port, given, config] = process.argv.slice(2);
const directory = given || mkdtempSync(path.join(tmpdir(), 'clickhouse-'));
process.once('exit', () => {
  if (given !== directory) rmSync(directory, { recursive: true, force: true });
});
const front = await serveClickHouse(directory, Number(port), config || undefined);
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => void front.close().then(() => process.exit()));
process.send?.({ url: front.url });
