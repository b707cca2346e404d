import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '../test/api/agent/support/postgres.ts';
import { startClickHouse } from '../test/support/clickhouse-process.ts';
import { freePort, startKafka } from '../test/support/kafka.ts';
import { createCast } from './cast.ts';
import { atRate, createSender } from './http-load.ts';
import { percentile } from './percentile.ts';
import type { Row } from './row.ts';
import { untilWhole } from './until-whole.ts';

const READS_PER_SECOND = 10;
const TURN_SECONDS = 20;
const MOST = 1.2;
/** None of them shared: what is read is what the audit reads beside. */
const ROUTES = ['', '/fees', '/loop', '/positions', '/activity'];

type Read = (path: string) => Promise<{ status: number; text: string; ms: number }>;

async function everyMint(read: Read): Promise<string[]> {
  const mints: string[] = [];
  for (;;) {
    const { text } = await read(`/rankings?limit=200&offset=${mints.length}`);
    const page = JSON.parse(text) as { items: { mint: string }[]; hasMore: boolean };
    mints.push(...page.items.map(({ mint }) => mint));
    if (!page.hasMore) return mints;
  }
}

/** Readers of a live system, in turns beside an audit and without one. */
export async function benchAudit(turns: number): Promise<Row[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'bench-'));
  const [cluster, clickhouse, postgres] = await Promise.all([
    startKafka(),
    startClickHouse(path.join(directory, 'clickhouse')),
    startPostgres(),
  ]);
  const cast = createCast(directory);
  const { send, close } = createSender();
  try {
    const devnet = await cast.devnet(['--policies', '300', '--history', '3000', '--seed', 'audit']);
    const port = await freePort();
    const env = {
      KAFKA_BROKERS: cluster.brokers.join(','),
      KAFKA_PARTITIONS: '4',
      CLICKHOUSE_URL: `${clickhouse.url}/bench`,
      POSTGRES_URL: await postgres.freshUrl(),
      YELLOWSTONE_ENDPOINT: devnet.geyser,
      SOLANA_RPC_URL: devnet.rpc,
      PROGRAM_ID: devnet.programId,
      PORT: String(port),
    };
    await cast.once('start/migrate.ts', env);
    cast.start('ingest/commands/ingest.ts', env);
    cast.start('ingest/commands/materialise.ts', env);
    cast.start('api/main.ts', env);
    const url = `http://127.0.0.1:${port}`;
    const read: Read = (route) => send(`${url}${route}`);
    await untilWhole(url);
    const mints = await everyMint(read);

    const turn = async (): Promise<number[]> => {
      const took: number[] = [];
      await atRate(READS_PER_SECOND, TURN_SECONDS, async (n) => {
        const mint = mints[Math.floor(n / ROUTES.length) % mints.length];
        const { status, ms } = await read(`/coins/${mint}${ROUTES[n % ROUTES.length]}`);
        if (status !== 200) throw new Error(`a read was answered with ${status}`);
        took.push(ms);
      });
      return took;
    };
    const alone: number[] = [];
    const beside: number[] = [];
    let audits = 0;
    const turnBeside = async (): Promise<number[]> => {
      let isOver = false;
      const auditing = (async () => {
        while (!isOver) {
          await cast.once('ingest/commands/audit.ts', env);
          audits += 1;
        }
      })();
      const reading = turn().finally(() => {
        isOver = true;
      });
      await Promise.all([reading, auditing]);
      return reading;
    };
    await turn();
    for (let round = 0; round < turns; round += 1) {
      // What drifts meanwhile is in both.
      const order = round % 2 === 0 ? [alone, beside] : [beside, alone];
      for (const list of order) list.push(...(await (list === alone ? turn() : turnBeside())));
    }
    for (const list of [alone, beside]) list.sort((a, b) => a - b);
    const ratio = percentile(beside, 0.99) / percentile(alone, 0.99);
    const told = (list: readonly number[]) =>
      `${percentile(list, 0.5).toFixed(1)} · ${percentile(list, 0.99).toFixed(1)}`;
    return [
      { name: 'audits of 300 policies that found nothing', value: String(audits), ok: null },
      { name: 'reads alone, median · p99, ms', value: told(alone), ok: null },
      { name: 'reads beside an audit, median · p99, ms', value: told(beside), ok: null },
      { name: `p99 beside over alone (bar ${MOST})`, value: ratio.toFixed(2), ok: ratio <= MOST },
    ];
  } finally {
    close();
    await cast.stop();
    await postgres.stop();
    await clickhouse.stop();
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
