import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertPost } from '../../../api/agent/posts/store.ts';
import { migratePostgres } from '../../../api/postgres/migrate.ts';
import { openPool } from '../../../api/postgres/pool.ts';
import type { Db } from '../../../api/postgres/port.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { deadUrl } from '../../support/answering.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabase, urlOf } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { createRandom } from '../../support/random.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { appliedRow, eventRow, key, mintRow, policyRow, signature } from '../support/rows.ts';
import { type Heard, type Listener, listenTo } from './support/listen.ts';

/** With the usual wait, a client of events and posts waits a second for its posts, and is then sent a gap instead. */
const MAIN = path.join(import.meta.dirname, 'support/patient-api.ts');
const SEED = Number(process.env.SEED ?? 20_261_121);
const KILLS = 3;
const MOST_OF_SLOT = 6;
/** What clients ask for: posts alone, events of all policies or of one, or posts beside them. */
const ASKED = [
  { path: `/stream/posts?mint=${key('one')}`, mint: key('one'), events: false, posts: true },
  { path: '/stream/activity', mint: null, events: true, posts: false },
  { path: `/stream/activity?mint=${key('one')}`, mint: key('one'), events: true, posts: false },
  { path: '/stream/activity?posts=true', mint: null, events: true, posts: true },
];
type Asked = (typeof ASKED)[number];

interface Happened {
  type: 'activity' | 'post';
  name: string;
  mint: string;
}

let store: Store;
let db: Db;
let port: number;
let env: NodeJS.ProcessEnv;
interface Running {
  child: ChildProcess;
  gone: Promise<unknown>;
  /** How the process ended, once it has. */
  end: string | null;
}
let api: Running | null = null;

beforeAll(async () => {
  store = await freshDatabase();
  port = await freePort();
  const nowhere = await deadUrl();
  const postgresUrl = await freshPostgresUrl();
  db = openPool(postgresUrl);
  await migratePostgres(db);
  env = {
    ...process.env,
    ...{ HOST: '127.0.0.1', PORT: String(port), CLICKHOUSE_URL: urlOf(store), LOG_LEVEL: 'error' },
    ...{ POSTGRES_URL: postgresUrl, SOLANA_RPC_URL: nowhere, PROGRAM_ID: key('program') },
  };
  await store.insert('policies', [policyRow('one', 'usd'), policyRow('two', 'usd')]);
  await store.insert('mints', [mintRow('usd', 6)]);
});
afterAll(async () => {
  await kill();
  await store.close();
  await db.close();
});

async function start(): Promise<void> {
  const child = spawn(process.execPath, [MAIN], { env });
  const running: Running = { child, gone: once(child, 'exit'), end: null };
  api = running;
  let said = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (text) => (said += text));
  child.once('exit', (code, signal) => {
    running.end = `the API ended with ${code ?? signal}: ${said}`;
  });
  // Posts too: the first query to Postgres is the slowest.
  for (const asked of ['/status', `/coins/${key('one')}/posts`])
    await whileItRuns(async () => expect((await fetch(`http://127.0.0.1:${port}${asked}`)).status).toBe(200));
}

/** Retries until `so` does not throw. @throws where the process ends before */
async function whileItRuns<T>(so: () => Promise<T>): Promise<T> {
  const answer = await awaited(async () => (api?.end ? null : { is: await so() }), 100);
  if (answer === null) throw new Error(api?.end ?? 'the API was killed');
  return answer.is;
}

async function kill(): Promise<void> {
  const running = api;
  api = null;
  running?.child.kill('SIGKILL');
  await running?.gone;
}

/** Writes a post as the agents' route does. */
async function post(coin: string, text: string): Promise<void> {
  const model = { id: 1, name: 'm', provider: 'p', enabled: true };
  const words = { kind: 'update', text, venue: null, ref: null } as const;
  await db.transaction((tx) =>
    insertPost(tx, { mint: key(coin), agent: key('agent'), model, ...words }, new Date().toISOString()),
  );
}

/** Listens as soon as the process can serve the stream; a browser retries too. */
const listen = ({ path: asked }: Asked, lastId: string | undefined): Promise<Listener> =>
  whileItRuns(async () => {
    const listener = await listenTo(`http://127.0.0.1:${port}${asked}`, lastId, ['gap', 'end']);
    expect(listener.status).toBe(200);
    return listener;
  });

test(`clients that resume after kill -9 and a restart miss nothing and get nothing twice (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const stored: Happened[] = [];
  let slot = 1_000;
  const happen = async (slots: number) => {
    for (let made = 0; made < slots; made += 1) {
      slot += 1;
      const rows = Array.from({ length: 1 + Math.floor(random() * MOST_OF_SLOT) }, () => {
        const coin = random() < 0.5 ? 'one' : 'two';
        const name = `event ${stored.length}`;
        stored.push({ type: 'activity', name, mint: key(coin) });
        const summary = `{"n":"${name}"}`;
        return eventRow(coin, 'Routed', stored.length, {
          tx_index: stored.length,
          signature: signature(name),
          slot: String(slot),
          summary,
        });
      });
      await store.insert('events', rows);
      const coin = random() < 0.5 ? 'one' : 'two';
      const text = `post ${stored.length}`;
      stored.push({ type: 'post', name: text, mint: key(coin) });
      await post(coin, text);
      const at = { slot: String(slot), log_offset: String(slot) };
      await store.insert('applied', [appliedRow('transactions', 0, at), appliedRow('accounts', 0, at)]);
    }
  };
  await happen(2);
  const before = stored.length;
  await start();
  const clients = ASKED.map((asked) => ({
    asked,
    heard: [] as Heard[],
    at: undefined as string | undefined,
  }));
  const expected = ({ mint: one, events, posts }: Asked, wanted: Happened['type'] | null = null) =>
    stored
      .slice(before)
      .filter(({ mint }) => one === null || mint === one)
      .filter(({ type }) => (type === 'post' ? posts : events) && (wanted === null || type === wanted))
      .map(({ name }) => name);
  for (let round = 0; round <= KILLS; round += 1) {
    const begin = async ({ asked, at }: (typeof clients)[number]) => {
      const listener = await listen(asked, at);
      return { listener, firstId: await listener.firstId() };
    };
    const open = await Promise.all(clients.map(begin));
    await happen(3);
    const last = round === KILLS;
    await Promise.all(
      open.map(({ listener }, of) => {
        const client = clients[of] as (typeof clients)[number];
        const missing = expected(client.asked).length - client.heard.length;
        // Except for the last time, a client is cut off at a random event.
        return listener.until(last ? missing : Math.floor(random() * (missing + 1)));
      }),
    );
    await kill();
    for (const [of, { listener, firstId }] of open.entries()) {
      await listener.ended;
      const client = clients[of] as (typeof clients)[number];
      // It keeps only what it had read when it was cut off.
      const kept = last
        ? listener.heard
        : listener.heard.slice(0, Math.ceil(random() * listener.heard.length));
      client.heard.push(...kept);
      client.at = kept.at(-1)?.id ?? firstId;
    }
    if (last) break;
    await happen(2);
    await start();
  }
  for (const { asked, heard } of clients) {
    for (const type of ['activity', 'post'] as const) {
      const told = heard.filter(({ event }) => event === type);
      const names = told.map(({ data }) => (type === 'post' ? data.text : data.summary.n));
      expect(names, asked.path).toEqual(expected(asked, type));
    }
    // And nothing else: no gap, no end.
    expect(heard.length).toBe(expected(asked).length);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(heard.length);
  }
});
