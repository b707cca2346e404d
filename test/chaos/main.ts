import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readFlags, wholeNumber } from '../../runtime/config/flags.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { runMain } from '../../runtime/process/lifecycle.ts';

const COMMAND = {
  usage: 'npm run chaos',
  about:
    'Runs the whole system on real servers while processes are killed and frozen and connections are harmed, and then\ncompares every answer with the chain. One run per seed, one after the other. Exits with 1 if one fails.',
  flags: {
    seeds: { type: 'string', value: 'N', help: 'how many seeds (default 10; with --providers 1)' },
    minutes: { type: 'string', value: 'N', help: 'of faults for each seed (default 10)' },
    policies: { type: 'string', value: 'N', help: 'on the chain (default 300)' },
    seed: { type: 'string', value: 'TEXT', help: 'this seed alone' },
    providers: {
      type: 'boolean',
      help: 'stream and node change their manners too, each of them within ten minutes',
    },
    hostile: {
      type: 'boolean',
      help: 'hostile clients beside honest ones for two minutes, in place of faults',
    },
  },
} as const;

const ROOT = path.resolve(import.meta.dirname, '../..');

const HOSTILE_SECONDS = 120;

type Value = string | boolean | undefined;

const whole = (name: string, value: Value, otherwise: number): number =>
  typeof value === 'string' ? wholeNumber(name, value, 1) : otherwise;

/** Runs one seed; its output is printed, and also kept beside the processes' logs. */
async function runSeed(
  test: string,
  env: Record<string, string>,
  directory: string,
  signal: AbortSignal,
): Promise<boolean> {
  const child = spawn(process.execPath, [path.join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', test], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const keep = (chunk: Buffer) => {
    process.stdout.write(chunk);
    appendFileSync(path.join(directory, 'output.log'), chunk);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const [code] = (await once(child, 'exit')) as [number | null];
  signal.removeEventListener('abort', stop);
  return code === 0;
}

await runMain(async (signal) => {
  const flags = readFlags(COMMAND, process.argv.slice(2));
  // With providers, one seed's ten minutes have every manner.
  const count = whole('seeds', flags.seeds, flags.providers === true ? 1 : 10);
  const minutes = whole('minutes', flags.minutes, 10);
  const policies = whole('policies', flags.policies, 300);
  const night = new Date().toISOString().slice(0, 10);
  const seeds =
    typeof flags.seed === 'string'
      ? [flags.seed]
      : Array.from({ length: count }, (_, at) => `${night}-${at + 1}`);
  if (flags.hostile === true) {
    const directory = mkdtempSync(path.join(tmpdir(), 'hostile-'));
    const seed = seeds[0] as string;
    const env = { HOSTILE_SEED: seed, HOSTILE_SECONDS: String(HOSTILE_SECONDS) };
    if (await runSeed('test/chaos/hostile.test.ts', env, directory, signal)) return;
    throw new ConfigError(`seed ${seed}: honest clients were harmed; its output is in ${directory}`);
  }
  const failed: string[] = [];
  for (const seed of seeds) {
    if (signal.aborted) break;
    const directory = mkdtempSync(path.join(tmpdir(), `chaos-${seed.replaceAll(/[^\w-]/g, '_')}-`));
    process.stdout.write(`seed ${seed}: ${minutes} minutes, ${policies} policies, logs in ${directory}\n`);
    const env = {
      CHAOS_SEED: seed,
      CHAOS_MINUTES: String(minutes),
      CHAOS_POLICIES: String(policies),
      CHAOS_DIRECTORY: directory,
      ...(flags.providers === true ? { CHAOS_PROVIDERS: '1' } : {}),
    };
    const isWhole = await runSeed('test/chaos/chaos.test.ts', env, directory, signal);
    if (!isWhole) failed.push(`${seed} (${directory})`);
    process.stdout.write(`seed ${seed}: ${isWhole ? 'exact' : `FAILED, logs in ${directory}`}\n`);
  }
  if (signal.aborted) throw new ConfigError('stopped before every seed was run');
  if (failed.length > 0)
    throw new ConfigError(`${failed.length} of ${seeds.length} seeds failed: ${failed.join(', ')}`);
});
