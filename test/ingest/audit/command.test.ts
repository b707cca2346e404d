import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openEmbedded } from '../../../clickhouse/client.ts';
import { migrate } from '../../../clickhouse/schema/migrate.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { OPEN_GAP } from '../../../ingest/operate/audit/history-state.ts';
import { createReport, type Report } from '../../../ingest/operate/audit/report.ts';
import { lockDataDir } from '../../../runtime/process/data-lock.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { freshDatabase, freshDatabaseUrl } from '../../support/database.ts';
import { batchOf, logOf, marker, PROGRAM, routed, transaction } from '../materialise/support/records.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { type AuditStage, openAuditStage } from './support/audit-stage.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const dataDir = mkdtempSync(path.join(tmpdir(), 'audit-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const { PATH, NODE_COMPILE_CACHE } = process.env;

/** Runs `npm run audit`'s process to its end. */
function audit(env: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, ['ingest/commands/audit.ts', ...args], {
    cwd: ROOT,
    env: { PATH, NODE_COMPILE_CACHE, UV_THREADPOOL_SIZE: '16', DATA_DIR: dataDir, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, out, err })),
  );
}

describe('npm run audit over the embedded engine', () => {
  test('says that there is nothing to audit where DATA_DIR holds no index', async () => {
    const { code, err } = await audit({ DATA_DIR: path.join(dataDir, 'nowhere') });
    expect(code).toBe(1);
    expect(err).toMatch(/^DATA_DIR .*nowhere holds no index, [^\n]+\n$/);
  });

  test('names the process that holds DATA_DIR, even before there is an index', async () => {
    const unlock = lockDataDir(dataDir);
    const { code, err } = await audit({});
    unlock();
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^DATA_DIR .* is in use by process ${process.pid}[^\n]+\n$`));
  });

  test('stops with a sentence while another process holds DATA_DIR, and compares once it is released', async () => {
    mkdirSync(dataDir, { recursive: true });
    const unlock = lockDataDir(dataDir);
    const store = await openEmbedded(path.join(dataDir, 'clickhouse'));
    await migrate(store, null);
    const apply = createMaterialiser({ store, programId: PROGRAM });
    await apply(batchOf('transactions', logOf([transaction('a', 5n, [routed(7n)]), marker(5n)])));
    await store.close();

    const held = await audit({});
    expect(held.code).toBe(1);
    expect(held.err).toMatch(new RegExp(`^DATA_DIR .* is in use by process ${process.pid}[^\n]+\n$`));
    unlock();

    const { code, out, err } = await audit({ PROGRAM_ID: encodeBase58(PROGRAM) });
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('SOLANA_RPC_URL is not set: account states are not compared with the chain\n');
    expect(out).toMatch(
      /\ncompared 1 policy totals, 1 days, 1 event kinds, 1 event tables, .*; 0 differences\n$/,
    );
    // The process has released the directory.
    lockDataDir(dataDir)();
  });
});

test('a report has a shortfall where nothing, or nothing of a kind, was compared, or a gap is open', () => {
  const of = (...told: ((report: Report) => void)[]) => {
    const report = createReport(() => {});
    for (const tell of told) tell(report);
    return report.shortfall();
  };
  const some = (report: Report) => report.compared('hours', 1);
  expect(of()).toBe('nothing could be compared');
  expect(of(some)).toBeNull();
  expect(of(some, (report) => report.notComparable('days', OPEN_GAP))).toMatch(/^none of these .*: days$/);
  expect(of(some, (report) => report.notComparable('hours', OPEN_GAP))).toMatch(
    / run it again once it is closed$/,
  );
  expect(of(some, (report) => report.notComparable('hours', 'written to all the time'))).toBeNull();
});

test('npm run audit does not create the database of CLICKHOUSE_URL, and names the variable', async () => {
  const url = freshDatabaseUrl();
  const { code, err } = await audit({ CLICKHOUSE_URL: url });
  expect(code).toBe(1);
  expect(err).toMatch(/^the server of CLICKHOUSE_URL refuses the user, password or database [^\n]+\n$/);
  const home = await freshDatabase();
  const name = new URL(url).pathname.slice(1);
  expect(await home.query('SELECT 1 FROM system.databases WHERE name = {name:String}', { name })).toEqual([]);
  await home.close();
});

describe('npm run audit over a server', () => {
  let stage: AuditStage;
  const url = () => `${inject('clickhouseUrl')}/${stage.store.database}`;
  beforeAll(async () => {
    stage = await openAuditStage('audit-command', 10, freshDatabase);
    await stage.live(60);
    await stage.settled();
    await stage.stopWriting();
  });
  afterAll(() => stage.close());

  test('exits with 1 where an open gap leaves something that is not compared', async () => {
    const env = { CLICKHOUSE_URL: url(), SOLANA_RPC_URL: stage.rpcUrl, PROGRAM_ID: stage.chain.programId };
    const gap = { log_partition: 0, to_time: null, closed: 0, to_slot: stage.chain.tip().slot.toString() };
    const at = { from_slot: '1', log_offset: '0' };
    await stage.store.insert('gaps', [{ ...gap, ...at }]);
    const { code, out, err } = await audit(env);
    await deleteRows(stage.store, 'gaps', 'from_slot = 1');
    expect(out).toMatch(/ 0 chain counters.*; 0 differences\n$/);
    expect(err).toBe('none of these could be compared: chain counters\n');
    expect(code).toBe(1);
  });

  test('exits with 0 where nothing differs and with 1 where something does', async () => {
    const env = { CLICKHOUSE_URL: url(), SOLANA_RPC_URL: stage.rpcUrl, PROGRAM_ID: stage.chain.programId };
    const whole = await audit(env);
    expect(whole.err).toBe('');
    expect(whole.code).toBe(0);
    expect(whole.out).toMatch(/^compared .*; 0 differences\n$/);
    await stage.store.command('DELETE FROM policy_totals WHERE mint = (SELECT min(mint) FROM policy_totals)');
    const damaged = await audit(env);
    expect(damaged.code).toBe(1);
    expect(damaged.err).toBe('what is served is not what it should be\n');
    expect(damaged.out).toMatch(/^difference {2}\w+ {2}policy_totals\./);
    expect(damaged.out).toMatch(/\ncompared .*; \d+ differences\n$/);
  });

  test.each(['CLICKHOUSE_URL', 'SOLANA_RPC_URL'])('names %s where nothing answers', async (variable) => {
    const env = { CLICKHOUSE_URL: url(), SOLANA_RPC_URL: stage.rpcUrl, PROGRAM_ID: stage.chain.programId };
    const { code, err } = await audit({ ...env, [variable]: 'http://127.0.0.1:1/none' });
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^the (server|node) of ${variable} [^\n]+(refused|no answer)[^\n]*\n$`));
  });

  test('refuses a flag that it does not know', async () => {
    const { code, err } = await audit({}, ['--fast']);
    expect(code).toBe(1);
    expect(err).toContain("Unknown option '--fast'");
  });
});
