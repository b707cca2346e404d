import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { type ClickHouseProcess, startClickHouse } from '../support/clickhouse-process.ts';
import { freePort } from '../support/free-port.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'replicas-test-'));
const node = (port: number) => `<replica><host>127.0.0.1</host><port>${port}</port></replica>`;

let dialled = 0;
/** The first replica of the shard, as far as a node sees that asks it: it hangs up. */
const first = net.createServer((socket) => {
  dialled += 1;
  socket.destroy();
});
let engine: ClickHouseProcess;
let alone: Store;
let ofCluster: Store;

beforeAll(async () => {
  await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve));
  // The engine is the second: by this port it knows itself, though nobody can ask it there.
  const own = await freePort();
  const config = path.join(directory, 'engine.xml');
  const replicas = [node((first.address() as AddressInfo).port), node(own)].join('');
  writeFileSync(
    config,
    `<clickhouse><tcp_port>${own}</tcp_port><remote_servers><main><shard>
       <internal_replication>true</internal_replication>${replicas}
     </shard></main></remote_servers></clickhouse>`,
  );
  engine = await startClickHouse(path.join(directory, 'data'), 0, config);
  alone = await openServer(`${engine.url}/bankroll`);
  await alone.command('CREATE TABLE rows_local (n UInt8) ENGINE = MergeTree ORDER BY n');
  await alone.command(
    `CREATE TABLE rows AS rows_local ENGINE = Distributed('main', currentDatabase(), 'rows_local', n)`,
  );
  // Who may write has the database made over the whole cluster, which wants a keeper.
  ofCluster = await openServer(`${engine.url}/bankroll`, 'main', 'read');
});
afterAll(async () => {
  await Promise.all([alone?.close(), ofCluster?.close()]);
  await engine?.stop();
  first.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a node asks itself first, where nothing else is said', async () => {
  await alone.insert('rows', [{ n: 1 }]);
  expect(await alone.query('SELECT n FROM rows')).toEqual([{ n: 1 }]);
  expect(dialled).toBe(0);
});

test.each<[string, (store: Store) => Promise<unknown>]>([
  ['to read', (store) => store.query('SELECT n FROM rows')],
  ['to write', (store) => store.insert('rows', [{ n: 2 }])],
])('whatever node of a cluster is asked %s turns to the first replica, not to itself', async (_, ask) => {
  const before = dialled;
  await expect(ask(ofCluster)).rejects.toThrow('127.0.0.1');
  expect(dialled).toBeGreaterThan(before);
  expect(await alone.query('SELECT n FROM rows_local')).toEqual([{ n: 1 }]);
});
