import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretIn } from '../../../../api/client/secrets.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import { encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { serveAnswers } from '../../../support/answering.ts';
import { freshDatabase } from '../../../support/database.ts';
import { key, policyRow } from '../../support/rows.ts';
import { type AgentApi, PUBLIC_URL, rowCounts, startAgentApi } from '../support/agent-api.ts';
import { type FakeRpc, startFakeRpc } from '../support/fake-rpc.ts';
import { CALL, type FakeVenue, startFakeVenue } from '../support/fake-venue.ts';
import { testKey } from '../support/keys.ts';
import { freshEmbedded } from '../support/postgres.ts';

const CLI = path.resolve(import.meta.dirname, '../../../../api/client/cli.ts');
const AGENT = testKey('command line agent');
const MINT = key('command line');

describe('the command-line agent', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'agent-cli-'));
  const keyFile = path.join(directory, 'agent.json');
  let db: Db;
  let store: Store;
  let rpc: FakeRpc;
  let venue: FakeVenue;
  let api: AgentApi;

  beforeAll(async () => {
    db = await freshEmbedded();
    [store, rpc, venue] = await Promise.all([freshDatabase(), startFakeRpc(), startFakeVenue()]);
    api = await startAgentApi({ db, rpc, venueUrl: venue.url, store });
    rpc.policy({ mint: MINT, agent: AGENT.address });
    await store.insert('policies', [
      policyRow('command line', 'quote', { agent: AGENT.address, mode: 'Agent' }),
    ]);
    writeFileSync(keyFile, JSON.stringify([...AGENT.secretKey]), { mode: 0o600 });
  });
  afterAll(async () => {
    await Promise.all([api.close(), rpc.close(), venue.close(), db.close(), store.close()]);
    rmSync(directory, { recursive: true, force: true });
  });

  function run(verb: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return new Promise((resolve) => {
      execFile(process.execPath, [CLI, verb, ...args], { cwd: directory }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  }
  const own = () => ['--mint', MINT, '--url', api.url, '--public-url', PUBLIC_URL, '--key', keyFile];
  const thesis = (text: string) => run('post', ...own(), '--kind', 'thesis', '--text', text);

  test('posts, opens, lists, closes and reads the feed', async () => {
    const posted = await thesis('the first 🦊');
    expect(posted.code, posted.err).toBe(0);
    const post = JSON.parse(posted.out);
    expect(post).toMatchObject({ kind: 'thesis', text: 'the first 🦊', agent: AGENT.address });
    const opened = await run(
      'open',
      ...own(),
      ...['--instrument', CALL, '--direction', 'short', '--size', '1.5', '--reason', 'because'],
    );
    expect(opened.code, opened.err).toBe(0);
    const row = JSON.parse(opened.out);
    expect(JSON.parse((await run('positions', ...own())).out)).toEqual([row]);
    const closed = await run('close', ...own(), '--position', row.positionId, '--reason', 'over');
    expect(JSON.parse(closed.out).position).toMatchObject({ status: 'released', releaseReason: 'over' });
    const feed = await run('feed', '--mint', MINT, '--url', api.url);
    expect(JSON.parse(feed.out)).toMatchObject({ total: 1, posts: [post] });
  });

  test('escapes control characters in a service’s answers and refusals before it prints them', async () => {
    const hostile = 'gone \u009b2J\u202e\u2028';
    const answers = [
      { body: { mint: MINT, total: 1, posts: [{ kind: 'idle', text: hostile }] } },
      { status: 400, body: { error: hostile, code: 'invalid_request' } },
    ];
    const service = await serveAnswers(() => answers.shift() ?? null);
    const feed = () => run('feed', '--mint', MINT, '--url', service.url);
    const [answered, refused] = [await feed(), await feed()];
    await service.close();
    expect(JSON.parse(answered.out).posts[0].text).toBe(hostile);
    expect(refused.err).toBe('gone \\u009b2J\\u202e\\u2028 (invalid_request)\n');
    for (const { out, err } of [answered, refused]) expect(out + err).toMatch(/^[\x20-\x7e\n]*$/);
  });

  test('refuses a key file that others can read, without saying what it holds', async () => {
    chmodSync(keyFile, 0o644);
    const { code, err } = await thesis('x');
    chmodSync(keyFile, 0o600);
    expect(code).toBe(1);
    expect(err).toMatch(/can be read by others: chmod 600/);
    const { secretKey } = AGENT;
    for (const form of [
      secretKey.join(','),
      encodeBase58(secretKey),
      ...(['hex', 'base64'] as const).map((encoding) => secretKey.subarray(0, 32).toString(encoding)),
    ])
      expect(err).not.toContain(form.slice(0, 20));
  });

  test.each([
    ['a list of bytes', JSON.stringify([...AGENT.secretKey])],
    ['base58', `my key: ${encodeBase58(AGENT.secretKey)}`],
    ['hexadecimal', AGENT.secretKey.toString('hex')],
    ['a seed in hexadecimal', AGENT.secretKey.subarray(0, 32).toString('hex')],
    ['base64', AGENT.secretKey.toString('base64')],
    ['a session token', `use ${'Zz_-'.repeat(10)}abc`],
  ])('refuses a text that looks like a secret, and nothing is stored: %s', async (_, text) => {
    const before = await rowCounts(db);
    const { code, out, err } = await thesis(text);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/looks like a .*: nothing was sent/);
    expect(await rowCounts(db)).toEqual(before);
  });

  test('does not mistake an address, a signature or another chain’s transaction hash for a secret', () => {
    const signature = encodeBase58(AGENT.sign('x'));
    const hash = `0x${'ab'.repeat(32)}`;
    for (const text of [AGENT.address, MINT, signature, hash, `see https://x.example/${MINT}`])
      expect(secretIn(text), text).toBeNull();
  });

  test.each([
    ['no verb', [], /no verb/],
    ['an unknown verb', ['sell'], /no verb "sell"/],
    ['an unknown flag', ['post', '--sell', '1'], /--sell/],
    ['a missing flag', ['close', '--mint', MINT], /--position is missing|agent.json cannot be read/],
    [
      'an unknown kind',
      ['post', '--mint', MINT, '--key', keyFile, '--kind', 'opinion', '--text', 'x'],
      /--kind must be/,
    ],
  ])('exits with code 1 and a message without stack trace for %s', async (_, args, sentence) => {
    const [verb = '', ...rest] = args as string[];
    const { code, err } = await run(verb, ...rest);
    expect(code).toBe(1);
    expect(err).toMatch(sentence as RegExp);
    expect(err).not.toMatch(/\n\s+at /);
  });

  test('points to --public-url if the service names another URL than it is reached at', async () => {
    const args = ['--mint', MINT, '--url', api.url, '--key', keyFile, '--kind', 'idle', '--text', 'x'];
    const { code, err } = await run('post', ...args);
    expect(code).not.toBe(0);
    expect(err).toMatch(
      /^not signed: its URL line is "URL: .*: where that is .*, --public-url names it so\n$/,
    );
  });

  test('prints a refusal as the service words it, and the flags of open with --help', async () => {
    const refused = await run(
      'open',
      ...own(),
      '--instrument',
      'X',
      '--direction',
      'up',
      '--size',
      '1',
      '--reason',
      'r',
    );
    expect([refused.code, refused.err]).toEqual([
      1,
      'direction must be one of long, short (invalid_request)\n',
    ]);
    const help = await run('open', '--help');
    expect([help.code, help.err]).toEqual([0, '']);
    expect(help.out).toMatch(/--instrument NAME/);
  });
});
