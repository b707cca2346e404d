import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest';
import { brokerMissing } from '../support/kafka.ts';
import { eventually } from './look/ask.ts';
import { expectExact, expectWrongSums, settle } from './look/exact.ts';
import type { Actor } from './system/actor.ts';
import { type Servers, startServers } from './system/servers.ts';
import { openStage, type Stage } from './system/stage.ts';
import { createWorld, type World } from './system/world.ts';

const missing = brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'harms its own broker');
const SEED = process.env.SEED ?? 'flaws-1';
const FILE = 'test/chaos/flaws/flawed-materialise.ts';
/** How long a difference may last. */
const PATIENT_MS = 120_000;
const LOOKS = 5;

/** Tests the comparison at the end of the chaos test: a materialiser that breaks a rule must make it fail. */
describe.skipIf(missing !== null)(
  `broken materialisers (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'flaws-'));
    let world: World;
    let servers: Servers;
    let stage: Stage;
    let stages = 0;

    beforeAll(async () => {
      world = await createWorld({
        seed: SEED,
        policies: 5,
        rate: 8,
        historySlots: 40,
        retentionSlots: 100_000,
      });
      servers = await startServers({ brokers: 1, geyserPort: world.geyserPort });
    });
    afterEach(() => {
      world.node.behave({ lacks: [] });
      return stage.close();
    });
    afterAll(async () => {
      await servers.close();
      await world.close();
      rmSync(directory, { recursive: true, force: true });
    });

    /** Starts a materialiser with a flaw and waits for the tip: until something breaks, answers are exact. */
    async function open(flaw: string): Promise<Actor> {
      stages += 1;
      stage = await openStage({ world, servers, directory, name: `flaw_${stages}`, partitions: 1, apis: 1 });
      const flawed = await stage.add('materialise-1', FILE, { FLAW: flaw });
      await expectExact(stage, PATIENT_MS);
      return flawed;
    }

    async function killAt(
      moment: 'die-before-insert' | 'die-before-applied',
      materialise: Actor,
    ): Promise<void> {
      materialise.send({ arm: moment });
      await world.produce(10);
      await eventually('it dies', () => !materialise.running());
      materialise.start();
    }

    async function pauseInItsRecompute(first: Actor): Promise<void> {
      const stopping = first.message('stopping');
      first.send({ arm: 'stop-in-recompute' });
      await world.produce(5);
      await stopping;
      await stage.add('materialise-2', FILE, { FLAW: first.env.FLAW as string });
      await world.produce(60);
      await settle(stage);
      const late = first.message('lateWrite');
      first.signal('SIGCONT');
      await late;
      await first.kill();
    }

    test('a materialiser that commits before it inserts is caught when it is killed in between', async () => {
      const flawed = await open('commit-first');
      // Without lists of signatures nothing is verified: else the lost events would be read again.
      world.node.behave({ lacks: ['getSignaturesForAddress'] });
      await killAt('die-before-insert', flawed);
      await expectWrongSums(stage, LOOKS);
    });

    test('a materialiser that adds to its sums is caught when it is killed before a batch counts as applied', async () => {
      await killAt('die-before-applied', await open('additive'));
      await expectWrongSums(stage, LOOKS);
    });

    test('a materialiser whose late sums win is caught when it is paused while it computes them', async () => {
      await pauseInItsRecompute(await open('last-writer-wins'));
      await expectWrongSums(stage, LOOKS);
    });

    test('a materialiser without a flaw stays exact under the same kills and pause', async () => {
      const materialise = await open('none');
      await killAt('die-before-insert', materialise);
      await settle(stage);
      await killAt('die-before-applied', materialise);
      await settle(stage);
      await pauseInItsRecompute(materialise);
      await expectExact(stage, PATIENT_MS);
    });
  },
);
