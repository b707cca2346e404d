import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { brokerMissing } from '../support/kafka.ts';
import { planFaults } from './plan.ts';
import { runChaos } from './run.ts';

const missing = brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'harms its own brokers');
const SEED = process.env.CHAOS_SEED ?? 'chaos-1';
/** Set by `npm run chaos`; without it the test is short. */
const MINUTES = process.env.CHAOS_MINUTES === undefined ? null : Number(process.env.CHAOS_MINUTES);
const POLICIES = Number(process.env.CHAOS_POLICIES ?? 24);
const PLAN = planFaults(
  SEED,
  MINUTES === null
    ? { durationMs: 25_000, scale: 0.3 }
    : { durationMs: MINUTES * 60_000, scale: 1, providers: process.env.CHAOS_PROVIDERS !== undefined },
);
/** Most memory of a process, however much it has to hold back. */
const MOST_BYTES = 512 * 1024 * 1024;

describe.skipIf(missing !== null)(
  `chaos (CHAOS_SEED=${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    test(
      'whatever is killed, frozen, cut, delayed or refused, nothing is lost, counted twice or served backwards',
      async () => {
        const kept = process.env.CHAOS_DIRECTORY;
        // A directory that outlives the run.
        const directory = kept ?? mkdtempSync('/tmp/chaos-');
        mkdirSync(directory, { recursive: true });
        const say = (line: string) => {
          appendFileSync(path.join(directory, 'chaos.log'), `${new Date().toISOString()} ${line}\n`);
          if (kept !== undefined) process.stdout.write(`  ${line}\n`);
        };
        const result = await runChaos({
          ...{ seed: SEED, policies: POLICIES, plan: PLAN, directory, say },
          rate: MINUTES === null ? 6 : 4,
        }).catch((error: Error) => {
          say(`${error.stack}`);
          throw new Error(`${error.message}\nthe processes' logs are in ${directory}`, { cause: error });
        });
        for (const problem of result.problems) say(problem);
        expect(result.problems, `the processes' logs are in ${directory}`).toEqual([]);
        expect(result.compared, 'figures that were seen again').toBeGreaterThan(20);
        for (const [name, bytes] of result.memory) {
          say(`${name} held ${(bytes / 1024 ** 2).toFixed(0)} MB at most`);
          expect(bytes, `memory of ${name}`).toBeLessThan(MOST_BYTES);
        }
        if (kept === undefined) rmSync(directory, { recursive: true, force: true });
      },
      ((MINUTES ?? 1) + 30) * 60_000,
    );
  },
);
