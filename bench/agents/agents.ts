import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { openPool } from '../../api/postgres/pool.ts';
import { openServer } from '../../clickhouse/client.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { type FakeRpc, startFakeRpc } from '../../test/api/agent/support/fake-rpc.ts';
import { testKey } from '../../test/api/agent/support/keys.ts';
import { key, mintRow, modelRow, PROGRAM, policyRow } from '../../test/api/support/rows.ts';
import { startClickHouse } from '../../test/support/clickhouse-process.ts';
import { freePort } from '../../test/support/free-port.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { createCast } from '../support/cast.ts';
import { atRate, createSender } from '../support/http-load.ts';
import { percentile } from '../support/percentile.ts';
import { createReader } from '../support/reader.ts';
import type { Row } from '../support/row.ts';
import { mostInAMinute, type Posted, type Poster, postAtLimit, signIn } from './load.ts';

const AGENTS = 50;
const READS_PER_SECOND = 500;
/** The p99 of posts may be at most this many times that of an empty route. */
const MOST = 10;
const WARM_UP_SECONDS = 5;

/** Most readers ask for the same few pages, whose answers are shared; one in 100 for a feed, always read anew. */
const PAGES = ['/rankings?limit=10', '/status'];
const HOT = 2;
const FEEDS = 100;

function routeOf(n: number): string {
  if (n % FEEDS === 0) return `/coins/${mintOf((n / FEEDS) % AGENTS)}/posts`;
  return n % 2 === 0 ? (PAGES[(n / 2) % PAGES.length] as string) : `/coins/${mintOf(((n - 1) / 2) % HOT)}`;
}

const mintOf = (n: number) => key(`bench ${n}`);

const posters = (): Poster[] =>
  Array.from({ length: AGENTS }, (_, n) => ({
    mint: mintOf(n),
    key: testKey(`bench agent ${n}`),
    from: `10.9.0.${n}`,
  }));

/** Puts the policies into the index and onto the fake chain. */
async function putPolicies(clickhouse: string, rpc: FakeRpc, agents: readonly Poster[]): Promise<void> {
  const store = await openServer(clickhouse, null);
  await store.insert(
    'policies',
    agents.map(({ key: { address } }, n) =>
      policyRow(`bench ${n}`, 'usd', { agent: address, mode: 'Agent' }),
    ),
  );
  await store.insert('mints', [mintRow('usd', 6), ...agents.map((_, n) => mintRow(`bench ${n}`, 6))]);
  await store.insert('models', [modelRow(1, 'a model')]);
  await store.close();
  for (const { mint, key: agent } of agents) rpc.policy({ mint, agent: agent.address });
}

async function startEmptyRoute(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'empty-route.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    url: `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/`,
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function untilServing(url: string): Promise<void> {
  const { send, close } = createSender();
  while ((await send(`${url}/health`)).status !== 200) await pause(50);
  close();
}

interface Measured {
  posts: Posted[];
  empty: number[];
  reads: number[];
  failedReads: number;
}

/** All at once: agents that post at their limit, as many posts to the empty route, and the readers. */
async function load(
  api: string,
  empty: string,
  agents: readonly Poster[],
  seconds: number,
): Promise<Measured> {
  const { send, close } = createSender();
  const reader = createReader();
  const tokens: string[] = [];
  for (const agent of agents) tokens.push(await signIn(send, api, agent));
  const measured: Measured = { posts: [], empty: [], reads: [], failedReads: 0 };
  const read = async (n: number) => {
    const { status, ms } = await reader.read(api + routeOf(n));
    measured.reads.push(ms);
    if (status !== 200) measured.failedReads += 1;
  };
  await atRate(READS_PER_SECOND, WARM_UP_SECONDS, read);
  measured.reads = [];
  const body = JSON.stringify({ kind: 'update', text: '0.0 the book is thin, waiting' });
  const headers = { 'content-type': 'application/json' };
  const emptyPost = async () => {
    measured.empty.push((await send(empty, { method: 'POST', headers, body })).ms);
  };
  const until = performance.now() + seconds * 1000;
  const [posts] = await Promise.all([
    Promise.all(
      agents.map(({ from }, number) =>
        postAtLimit(send, api, tokens[number] as string, { from, number, until }),
      ),
    ),
    atRate(AGENTS / 3, seconds, emptyPost),
    atRate(READS_PER_SECOND, seconds, read),
  ]);
  close();
  reader.close();
  return { ...measured, posts };
}

/** Measures agents that post at their limit beside readers, on the API as `npm run api` runs it, over real stores. */
export async function benchAgents(minutes: number): Promise<Row[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'bench-'));
  const [clickhouse, postgres, rpc, empty] = await Promise.all([
    startClickHouse(path.join(directory, 'clickhouse')),
    startPostgres(),
    startFakeRpc(),
    startEmptyRoute(),
  ]);
  const cast = createCast(directory);
  try {
    const port = await freePort();
    const env = {
      CLICKHOUSE_URL: `${clickhouse.url}/bench`,
      POSTGRES_URL: await postgres.freshUrl(),
      SOLANA_RPC_URL: rpc.url,
      PROGRAM_ID: encodeBase58(PROGRAM),
      PORT: String(port),
      TRUST_PROXY: '1',
    };
    await cast.once('start/migrate.ts', env);
    const agents = posters();
    await putPolicies(env.CLICKHOUSE_URL, rpc, agents);
    cast.start('api/main.ts', env);
    const api = `http://127.0.0.1:${port}`;
    await untilServing(api);
    const measured = await load(api, empty.url, agents, minutes * 60);
    return await rowsOf(measured, minutes * 60, env.POSTGRES_URL);
  } finally {
    await cast.stop();
    await Promise.all([postgres.stop(), clickhouse.stop(), rpc.close(), empty.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function rowsOf(measured: Measured, seconds: number, postgresUrl: string): Promise<Row[]> {
  const { posts, empty, reads, failedReads } = measured;
  const db = openPool(postgresUrl);
  const [row] = await db.query<{ n: string; different: string }>(
    'SELECT count(*)::text AS n, count(DISTINCT text)::text AS different FROM posts',
  );
  await db.close();
  const accepted = posts.reduce((sum, { stored }) => sum + stored.length, 0);
  const undue = posts.flatMap((one) => one.undue);
  const due = posts.reduce((sum, one) => sum + one.due, 0);
  const most = Math.max(...posts.map(({ stored }) => mostInAMinute(stored)));
  const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);
  const [posted, bare, read] = [sorted(posts.flatMap(({ took }) => took)), sorted(empty), sorted(reads)];
  const ms = (values: readonly number[]) =>
    [0.5, 0.99].map((share) => percentile(values, share).toFixed(1)).join(' · ');
  const ratio = percentile(posted, 0.99) / percentile(bare, 0.99);
  const perSecond = reads.length / seconds;
  return [
    { name: `reads/s answered (${READS_PER_SECOND} asked)`, value: perSecond.toFixed(0), ok: null },
    { name: 'reads not answered with 200', value: String(failedReads), ok: failedReads === 0 },
    { name: 'reads, median · p99, ms', value: ms(read), ok: null },
    { name: `posts of ${posts.length} agents accepted`, value: String(accepted), ok: accepted > 0 },
    {
      name: 'posts stored, each once',
      value: `${row?.n}, ${row?.different} different`,
      ok: row?.n === String(accepted) && row.different === row.n,
    },
    { name: 'most of one agent in a minute (limit 20)', value: String(most), ok: most <= 20 },
    { name: 'refusals that were due', value: String(due), ok: null },
    {
      name: 'refusals that were not',
      value: undue.length === 0 ? '0' : `${undue.length}, the first: ${undue[0]}`,
      ok: undue.length === 0,
    },
    { name: 'posts, median · p99, ms', value: ms(posted), ok: null },
    { name: 'empty Koa POST, median · p99, ms', value: ms(bare), ok: null },
    { name: `posts' p99 over the empty one's (bar ${MOST})`, value: ratio.toFixed(1), ok: ratio <= MOST },
  ];
}
