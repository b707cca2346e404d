import { serveClickHouse } from './clickhouse-front.ts';

/** The engine as a process of its own: `node clickhouse-child.ts <directory> [port]`; it ends with its parent. */
const [directory, port] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: clickhouse-child.ts <directory> [port]');
const front = await serveClickHouse(directory, Number(port ?? 0));
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => void front.close().then(() => process.exit()));
process.send?.({ url: front.url });
