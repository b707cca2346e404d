import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { type AnsweringServer, deadUrl, serveAnswers } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';
import { freePort } from '../support/free-port.ts';
import { placeEmbedded } from '../support/pglite.ts';
import { metricNames } from './support/metric-names.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const MARK = 'marked-hunter2-secret';

const LOGOS = ['logo.png', '/logo.png', `http://user:${MARK}@site/logo.png`, `http://site/${MARK}/logo.png`];

/** A pair as the catalogue lists it, with a logo relative to its site. */
const pairOf = (logoUrl: string) => ({
  ...{
    mint: encodeBase58(Buffer.alloc(32, logoUrl.length)),
    symbol: `L${logoUrl.length}`,
    name: 'x',
    decimals: 6,
    logoUrl,
  },
  ...{ category: 'custom', launchable: true, launchLabReady: true },
});

/** The fenced blocks of README's section on agents: the six lines, then the commands. */
function examples(): { script: string; commands: string[] } {
  const section = readFileSync(path.join(ROOT, 'README.md'), 'utf8').split('\n## An agent\n')[1];
  const blocks = [
    ...(section ?? '')
      .split('\n## ', 1)
      .join('')
      .matchAll(/```(\w*)\n([\s\S]*?)```/g),
  ];
  const [script, commands] = ['js', ''].map((kind) => blocks.find(([, name]) => name === kind)?.[2] ?? '');
  return { script: script as string, commands: (commands as string).trim().split('\n') };
}

describe('npm start and the examples of README', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'readme-agent-'));
  const { script, commands } = examples();
  let system: ChildProcess;
  let url: string;
  let mint: string;

  let said = '';
  let screen = '';
  let upstream: AnsweringServer;
  let metricsPort: number;

  beforeAll(async () => {
    // Its answers contain the login of the request.
    upstream = await serveAnswers(({ path: asked }) =>
      asked.endsWith('/pairs')
        ? { body: { data: { pairs: LOGOS.map(pairOf) } } }
        : { status: 500, body: `${MARK} at http://user:${MARK}@upstream` },
    );
    metricsPort = await freePort();
    await placeEmbedded(path.join(directory, 'data/postgres'));
    const marked = upstream.url.replace('http://', `http://user:${MARK}@`);
    const env = {
      ...process.env,
      ...{ DATA_DIR: path.join(directory, 'data'), PORT: '0', METRICS_PORT: String(metricsPort) },
      ...{ LOG_LEVEL: 'debug', POLL_INTERVAL_MS: '500', YELLOWSTONE_X_TOKEN: MARK },
      ...{ PERP_VENUE_URL: `${marked}/perp`, LAUNCHPAD_CATALOGUE_URL: `${marked}/${MARK}` },
      ...{ PRICE_URL: (await deadUrl()).replace('http://', `http://user:${MARK}@`) },
      ...{ IPFS_GATEWAY: `https://user:${MARK}@127.0.0.1:1`, METADATA_ALLOW_PRIVATE: 'true' },
    };
    system = spawn(process.execPath, [path.join(ROOT, 'start/main.ts')], {
      ...{ cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    system.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await new Promise<void>((resolve, reject) => {
      system.once('exit', (code) => reject(new Error(`it ended with ${code} before it served`)));
      system.stdout?.on('data', (chunk: Buffer) => {
        screen += chunk.toString();
        if (screen.includes('Ctrl-C')) resolve();
      });
    });
    url = /is serving (\S+)/.exec(screen)?.[1] as string;
    mint = /MINT=(\w+), its key in data\/devnet\/agent\.json/.exec(screen)?.[1] as string;
    const isIndexed = async () => {
      const { status } = await fetch(`${url}/coins/${mint}`);
      if (status !== 200) throw new Error(`the policy of ${mint} is not indexed: ${status}`);
    };
    await awaited(isIndexed, 100);
  });
  afterAll(async () => {
    const gone = new Promise((resolve) => system.once('exit', resolve));
    if (system.kill('SIGTERM')) await gone;
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const feed = async () =>
    (await (await fetch(`${url}/coins/${mint}/posts`)).json()) as { posts: { kind: string; text: string }[] };

  test('configured upstreams are used, their failures are reported, and no output contains their logins', async () => {
    const read = async (address: string) => (await fetch(address)).text();
    await awaited(async () => {
      const { venues } = JSON.parse(await read(`${url}/status`)) as { venues: Record<string, object> };
      expect(venues.perp_venue).toMatchObject({ absent: true, reason: 'never answered: answered 500' });
      expect(await read(`${url}/quotes`)).toContain('/logo.png');
      const ready = await read(`http://127.0.0.1:${metricsPort}/ready`);
      expect(JSON.parse(ready)).toEqual({ ready: true, missing: [] });
    }, 200);
    const coin = ['', '/positions', '/activity', '/loop', '/fees', '/holders', '/posts'];
    const routes = ['/status', '/quotes', '/rankings', '/analytics', '/openapi.json', '/nowhere'];
    const shown = await Promise.all([
      ...coin.map((route) => read(`${url}/coins/${mint}${route}`)),
      ...routes.map((route) => read(url + route)),
      ...['metrics', 'ready', 'live'].map((name) => read(`http://127.0.0.1:${metricsPort}/${name}`)),
    ]);
    expect(shown.at(-3)).toMatch(/^poll_readings_total\{.*result="failed"/m);
    // The metrics of every stage, though all are in one process.
    for (const name of metricNames()) expect(shown.at(-3), name).toMatch(new RegExp(`^# TYPE ${name} `, 'm'));
    expect(shown.at(-3)).toMatch(/^materialise_consumer_lag\{topic="transactions",partition="0"/m);
    for (const text of [...shown, screen, said]) expect(text).not.toContain(MARK);
    expect(said).not.toBe('');
  });

  test('the response in README equals that of the local chain, apart from amounts, times and paysHolders', async () => {
    const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
    const shown = JSON.parse(/```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? '') as { mint: string };
    // The chain began with the service, and may make this policy only now.
    const real = await awaited(async () => {
      const answer = await fetch(`${url}/coins/${shown.mint}/holders`);
      expect(answer.status).toBe(200);
      return answer.json();
    }, 100);
    const timeless = (text: unknown) =>
      JSON.stringify(text)
        .replaceAll(/"(\d+|\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, '"…"')
        .replace(/"paysHolders":\w+/, '"paysHolders":…');
    expect(timeless(shown)).toBe(timeless(real));
  });

  test('npm start writes the agent’s key file with mode 600', () => {
    expect(statSync(path.join(directory, 'data/devnet/agent.json')).mode & 0o777).toBe(0o600);
  });

  test('the six lines of README read the key file and post to the feed', async () => {
    expect(script.trim().split('\n')).toHaveLength(6);
    const entry = path.join(ROOT, 'api/client/entry.ts');
    const here = script.replace('bankroll-indexer/client', entry).replace('http://127.0.0.1:8080', url);
    writeFileSync(path.join(directory, 'example.mjs'), here);
    const env = { ...process.env, MINT: mint };
    const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: directory, env });
    const [newest] = (await feed()).posts;
    expect(newest?.kind).toBe('thesis');
    expect(script).toContain(newest?.text);
    expect(stdout).toContain(newest?.text);
  });

  test('the commands of README post to the feed and read it', async () => {
    expect(commands.length).toBeGreaterThan(1);
    const cli = `${process.execPath} ${path.join(ROOT, 'api/client/cli.ts')}`;
    const env = { ...process.env, MINT: mint };
    for (const command of commands) {
      expect(command).toMatch(/^npm run agent -- /);
      const shell = `${command.replace('npm run agent --', cli)} --url ${url}`;
      const { stdout } = await run('sh', ['-c', shell], { cwd: directory, env });
      expect(JSON.parse(stdout)).toBeTruthy();
    }
    const texts = commands.flatMap((command) => /--text '([^']+)'/.exec(command)?.[1] ?? []);
    expect((await feed()).posts.map(({ text }) => text)).toEqual(expect.arrayContaining(texts));
  });
});
