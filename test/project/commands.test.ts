import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
/** Scripts that are tools of the repository, not commands of the product. */
const TOOLS = ['test', 'check', 'prepack'];
const COMMANDS = Object.keys(scripts).filter((name) => !TOOLS.includes(name));

function run(name: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    // As npm runs it, without npm's own start.
    const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
    const options = { cwd: ROOT, env: { ...process.env, PATH } };
    execFile('sh', ['-c', `${scripts[name]} ${args.join(' ')}`], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

describe('every command', () => {
  test('of the contract is there', () => {
    expect(COMMANDS).toEqual(
      expect.arrayContaining([
        ...['start', 'ingest', 'materialise', 'api', 'poll', 'migrate', 'backfill', 'replay', 'audit'],
        ...['doctor', 'devnet', 'bench', 'agent'],
      ]),
    );
  });

  test.each(COMMANDS)('%s says what it does with --help', async (name) => {
    const { code, out } = await run(name, '--help');
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(80);
  });

  test.each(COMMANDS)('%s refuses a flag that it does not know, in one sentence', async (name) => {
    const { code, out, err } = await run(name, '--no-such-flag');
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain('--no-such-flag');
    expect(err).not.toMatch(/^\s+at /m);
  });

  test.each([
    ['ingest', 'YELLOWSTONE_ENDPOINT'],
    ['materialise', 'KAFKA_BROKERS'],
    ['poll', 'SOLANA_RPC_URL'],
    ['api', 'CLICKHOUSE_URL'],
    ['migrate', 'CLICKHOUSE_URL'],
    ['backfill', ''],
    ['replay', ''],
  ])('%s stops with a sentence where it is not configured: %s', async (name, variable) => {
    const { code, err } = await run(name);
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^${variable || '[A-Z_]+'} is not set: .*\\n$`));
  });
});
