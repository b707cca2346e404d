import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
/** Scripts that are tools of the repository, not commands of the product. */
const TOOLS = ['test', 'test:long', 'check', 'prepack'];
const COMMANDS = Object.keys(scripts).filter((name) => !TOOLS.includes(name));

/** No command gets far enough to store anything. */
const DATA_DIR = mkdtempSync(path.join(tmpdir(), 'commands-'));
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

function run(name: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    // Runs it as npm does, without the time that npm takes to start.
    const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
    const options = { cwd: ROOT, env: { ...process.env, PATH, DATA_DIR, PORT: '0' } };
    execFile('sh', ['-c', `${scripts[name]} ${args.join(' ')}`], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

describe('npm commands', () => {
  test('include every command that the product promises', () => {
    expect(COMMANDS).toEqual(
      expect.arrayContaining([
        ...['start', 'ingest', 'materialise', 'api', 'poll', 'migrate', 'backfill', 'replay', 'audit'],
        ...['doctor', 'devnet', 'bench', 'agent'],
      ]),
    );
  });

  test.each(COMMANDS)('%s describes itself with --help and exits with 0', async (name) => {
    const { code, out } = await run(name, '--help');
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(80);
  });

  test.each(COMMANDS)(
    '%s refuses an unknown flag with exit code 1 and one line that names it',
    async (name) => {
      const { code, out, err } = await run(name, '--no-such-flag');
      expect(code).toBe(1);
      expect(out).toBe('');
      expect(err).toMatch(/^[^\n]*--no-such-flag[^\n]*\n$/);
    },
  );

  test.each([
    ['start', ['--rate', 'x'], 'the local chain did not start: --rate must be'],
    ['devnet', ['--dir', 'package.json', '--port-base', '0'], 'devnet: --dir cannot be used: '],
    ['devnet', ['--dir', '/proc/no/such', '--port-base', '0'], 'devnet: --dir cannot be used: '],
    ['devnet', ['--host', '192.0.2.1', '--port-base', '0'], 'devnet: listen .*: --host must be'],
    ['bench', ['--only', 'decode', '--turns', 'x'], '--turns must be a whole number'],
    ['chaos', ['--seeds', 'x'], '--seeds must be a whole number'],
    ['doctor', [], 'none of these is set'],
    ['agent', [], 'no verb: npm run agent -- --help'],
    ['agent', ['feed', '--mint', 'x', '--url', 'nowhere'], '--url must be like http://'],
    ['agent', ['feed', '--mint', 'x', '--url', 'http://127.0.0.1:1'], '.*: --url names the service'],
  ])('%s %j exits with 1 and one sentence that says what is wrong', async (name, args, sentence) => {
    const { code, err } = await run(name, ...args);
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^${sentence}.*\\n$`));
  });

  test.each([
    ['ingest', 'YELLOWSTONE_ENDPOINT', 'KAFKA_BROKERS', 'CLICKHOUSE_URL', 'SOLANA_RPC_URL'],
    ['materialise', 'KAFKA_BROKERS', 'CLICKHOUSE_URL'],
    ['poll', 'KAFKA_BROKERS', 'CLICKHOUSE_URL', 'SOLANA_RPC_URL'],
    ['api', 'CLICKHOUSE_URL', 'POSTGRES_URL', 'SOLANA_RPC_URL'],
    ['migrate', 'CLICKHOUSE_URL', 'POSTGRES_URL'],
    ['backfill', 'KAFKA_BROKERS', 'CLICKHOUSE_URL', 'SOLANA_RPC_URL'],
    ['replay', 'CLICKHOUSE_URL', 'KAFKA_BROKERS'],
  ])(
    '%s without configuration exits with 1 and one line that names all that is not set',
    async (name, ...variables) => {
      const { code, err } = await run(name);
      expect(code).toBe(1);
      expect(err).toMatch(/^[^\n]+\n$/);
      const named = [...err.matchAll(/(?:^|; )([A-Z_]+) is not set: [a-z]/g)].map(([, variable]) => variable);
      expect(named).toEqual(variables);
    },
  );
});
