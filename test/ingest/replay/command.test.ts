import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { lockDataDir } from '../../../runtime/process/data-lock.ts';
import { startCommand } from '../support/command-child.ts';

const dataDir = mkdtempSync(path.join(tmpdir(), 'replay-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const replay = (env: Record<string, string>) => startCommand('replay', { DATA_DIR: dataDir, ...env }).ended;

describe('npm run replay without servers', () => {
  test('stops with a sentence that names the variable that is not set', async () => {
    const servers = { KAFKA_BROKERS: '127.0.0.1:1', CLICKHOUSE_URL: 'http://127.0.0.1:1/x' };
    for (const name of Object.keys(servers)) {
      const { code, err } = await replay({ ...servers, [name]: '' });
      expect(code).toBe(1);
      expect(err).toMatch(new RegExp(`^${name} is not set: [^\n]+\n$`));
    }
  });

  test('stops with a sentence that names the process that holds DATA_DIR', async () => {
    const unlock = lockDataDir(dataDir);
    const { code, err } = await replay({});
    unlock();
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^DATA_DIR .* is in use by process ${process.pid}[^\n]+\n$`));
  });
});
