import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ClickHouseProcess, startClickHouse } from '../../test/support/clickhouse-process.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { fillPostgres } from '../peers/postgres-tables.ts';
import { formatNumber, type Row } from '../support/row.ts';
import { DATABASE, mintOf, prepare } from './data.ts';
import { type Idle, idle } from './idle.ts';
import { mixedReaders } from './mixed.ts';
import { coins, ofCoins, rankings } from './paths.ts';
import { bareOf, failedOf, load, open, openOurs, type Side } from './sides.ts';

export interface ReadsOptions {
  /** How long each load is measured. */
  seconds: number;
  policies: number;
  events: number;
  /** States a second that are written while readers are measured. */
  updates: number;
  /** Whether Postgres and ClickHouse alone are measured too (`peers`), and `npm start` without readers (`idle`). */
  peers: boolean;
  idle: boolean;
}

const CONNECTIONS = 16;
/** Numbers of policies from which on the bars of the large set hold. */
const LARGE = { coins: 10_000, rankings: 100_000 };

interface Workload {
  name: string;
  paths: string[];
  /** Least share of the bare route's requests a second, and the highest p99 in ms. */
  bar: number;
  p99?: number;
}

/** Measures readers while states are written, against a bare route, the engine's own queries and the peers. */
export async function* benchReads(options: ReadsOptions): AsyncGenerator<Row> {
  const directory = mkdtempSync(path.join(tmpdir(), 'reads-'));
  const sides: Side[] = [];
  const opened = async (side: Promise<Side>): Promise<Side> => {
    sides.push(await side);
    return side;
  };
  const postgres = options.peers ? await startPostgres() : null;
  let engine: ClickHouseProcess | null = null;
  try {
    const data = path.join(directory, 'data');
    await prepare(data, options);
    const copy = path.join(directory, 'peer');
    if (options.peers) cpSync(data, copy, { recursive: true });
    const { policies, updates } = options;
    // So many policies are a deployment's size: the engine is a server, and the API's process is measured without it.
    if (policies >= LARGE.rankings) engine = await startClickHouse(data);
    const place = engine === null ? data : `${engine.url}/${DATABASE}`;
    const begun = performance.now();
    const ours = await opened(openOurs(place, policies, updates));
    await fetch(`${ours.url}/coins/${mintOf(0)}`).then((answer) => answer.text());
    const first = performance.now() - begun;
    yield {
      name: `first answer after the start, ${policies} policies`,
      value: `${formatNumber(first)} ms`,
      ok: first < 5_000,
    };
    await fetch(`${ours.url}/rankings`).then((answer) => answer.text());
    const ranked = performance.now() - begun;
    yield { name: 'first ranking after the start', value: `${formatNumber(ranked)} ms`, ok: ranked < 5_000 };

    const peers: [string, Side][] = [];
    if (postgres !== null) {
      const url = await postgres.freshUrl();
      await fillPostgres(url, policies);
      peers.push(['Postgres', await opened(open('bench/peers/postgres.ts', [url]))]);
      peers.push(['ClickHouse', await opened(open('bench/peers/clickhouse.ts', [copy]))]);
    }
    for (const workload of workloads(policies)) yield* compared(workload, ours, peers);
    const rss = ours.child.rssMb();
    yield {
      name: `RSS after that, ${engine === null ? 'engine and writer in the process' : 'its engine in another process'}`,
      value: `${formatNumber(rss)} MB`,
      ok: policies < LARGE.rankings ? null : rss < 700,
    };
    yield await unchanged(ours);
    yield* alone(ours);
    yield* mixedReaders(ours, { policies, seconds: options.seconds });
  } finally {
    for (const { child } of sides) await child.stop();
    await engine?.stop();
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
  if (options.idle) yield* idleRows(options.seconds);

  async function* compared(
    { name, paths, bar, p99 }: Workload,
    ours: Side,
    peers: [string, Side][],
  ): AsyncGenerator<Row> {
    const bare = await opened(bareOf(ours, paths, directory));
    const asked = { paths, connections: CONNECTIONS, seconds: options.seconds };
    const base = await load(bare, asked);
    const mine = await load(ours, asked);
    const share = mine.perSecond / base.perSecond;
    const inTime = mine.failed === 0 && (p99 === undefined || mine.p99 < p99);
    const value = `${formatNumber(mine.perSecond)}/s p50 ${formatNumber(mine.p50)} p99 ${formatNumber(mine.p99)} ms; bare ${formatNumber(base.perSecond)}/s: ${formatNumber(share)} (bar ${bar}${p99 === undefined ? '' : `, p99 ${p99} ms`})${failedOf(mine)}`;
    yield { name, value, ok: share >= bar && inTime };
    for (const [peer, side] of peers) {
      const theirs = await load(side, asked);
      yield {
        name: `  ${peer}`,
        value: `${formatNumber(theirs.perSecond)}/s p50 ${formatNumber(theirs.p50)} p99 ${formatNumber(theirs.p99)} ms${failedOf(theirs)}`,
        ok: mine.perSecond > theirs.perSecond,
      };
    }
  }

  async function* alone(ours: Side): AsyncGenerator<Row> {
    const { policies, seconds } = options;
    const { select1Ms } = await ours.child.ask<{ select1Ms: number }>({ ask: 'select1' });
    yield { name: "the engine's SELECT 1", value: `${formatNumber(select1Ms)} ms`, ok: null };
    const asked: [string, string[], number][] = [
      ['coin', coins(policies), 2],
      ['ranking page of 50', rankings(policies), 4],
      ...(['fees', 'loop', 'positions'] as const).map((route): [string, string[], number] => [
        route,
        ofCoins(route, policies),
        2,
      ]),
      ['activity', ofCoins('activity', Math.min(policies, 300)), 4],
      ['/analytics', ['/analytics'], 10],
      ['/status', ['/status'], 4],
    ];
    for (const [name, paths, bar] of asked) {
      // As any browser asks: years of days would be 40 MB uncompressed.
      const headers = { 'accept-encoding': 'gzip, deflate, br, zstd' };
      const loaded = await load(ours, { paths, connections: 1, seconds, headers });
      const { p50, failed } = loaded;
      const times = p50 / select1Ms;
      yield {
        name: `one client, ${name}`,
        value: `${formatNumber(p50)} ms: ${formatNumber(times)} × (bar ${bar} ×)${failedOf(loaded)}`,
        ok: times <= bar && failed === 0,
      };
    }
  }

  async function unchanged(ours: Side): Promise<Row> {
    const pathname = `/coins/${mintOf(0)}`;
    const bare = await opened(bareOf(ours, [pathname], directory));
    const ask = async (side: Side) => {
      const etag = (await fetch(side.url + pathname)).headers.get('etag') ?? '';
      const asked = { paths: [pathname], connections: CONNECTIONS, seconds: options.seconds };
      return load(side, { ...asked, headers: { 'if-none-match': etag } });
    };
    const [base, mine] = [await ask(bare), await ask(ours)];
    const share = mine.perSecond / base.perSecond;
    const value = `${formatNumber(mine.perSecond)}/s; bare 304 ${formatNumber(base.perSecond)}/s: ${formatNumber(share)} (bar 0.6)`;
    const ok = share >= 0.6 && mine.failed === 0;
    return { name: 'If-None-Match of an unchanged coin', value: `${value}${failedOf(mine)}`, ok };
  }
}

const workloads = (policies: number): Workload[] => [
  {
    name: `random coins, ${policies} policies`,
    paths: coins(policies),
    ...(policies < LARGE.coins ? { bar: 0.5, p99: 25 } : { bar: 0.25 }),
  },
  {
    name: `random rankings, ${policies} policies`,
    paths: rankings(policies),
    ...(policies < LARGE.rankings ? { bar: 0.25 } : { bar: 0.1, p99: 50 }),
  },
];

async function* idleRows(seconds: number): AsyncGenerator<Row> {
  const small = await idle([], seconds * 3, async () => null);
  yield row('npm start', small, 0.15, small.cores <= 0.15 && small.rssMb < 900);
  const flags = ['--policies', '5000', '--rate', '20'];
  const large = await idle(flags, seconds * 3, (url) =>
    load({ url }, { paths: rankings(5_000), connections: CONNECTIONS, seconds: seconds * 3 }),
  );
  const { perSecond, p50, p99, failed } = large.after;
  yield row('npm start --policies 5000 --rate 20', large, 0.3, large.cores <= 0.3);
  yield {
    name: 'the same with readers of random ranking pages',
    value: `${formatNumber(perSecond)}/s p50 ${formatNumber(p50)} p99 ${formatNumber(p99)} ms (bar 200/s, p99 250 ms)${failedOf(large.after)}`,
    ok: perSecond >= 200 && p99 < 250 && failed === 0,
  };
}

const row = (name: string, { cores, chainCores, rssMb }: Idle, bar: number, ok: boolean): Row => ({
  name: `${name}, nobody reading`,
  value: `${formatNumber(cores)} of a core (bar ${bar}), its chain ${formatNumber(chainCores)}; RSS ${formatNumber(rssMb)} MB`,
  ok,
});
