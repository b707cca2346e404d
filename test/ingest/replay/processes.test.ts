import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readServing } from '../../../clickhouse/serving/serving.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { BROUGHT_FURTHER, bringFurther } from '../../clickhouse/support/newer-schema.ts';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { readTables } from '../materialise/support/tables.ts';
import { type History, openHistory } from './support/history.ts';
import { type Broker, openBroker, openStage, type Stage } from './support/stage.ts';

const missing = brokerMissing();
const SEED = process.env.SEED ?? 'replay-3';
const COMMANDS = path.resolve(import.meta.dirname, '../../../ingest/commands');

interface Running {
  child: ChildProcess;
  out(): string;
  /** Kills the process as soon as it prints this. */
  killAt(words: string): void;
  /** Its exit code; null where a signal ended it. */
  ended: Promise<number | null>;
}

describe.skipIf(missing !== null)(
  `replay and materialise as processes (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    let broker: Broker;
    let history: History;
    let stage: Stage;
    const running: Running[] = [];

    beforeAll(async () => {
      broker = await openBroker();
    });
    afterAll(() => broker.stop());
    afterEach(async () => {
      for (const { child } of running) child.kill('SIGKILL');
      await Promise.all(running.splice(0).map(({ ended }) => ended));
      await stage.close();
      history.close();
    });

    function start(command: string): Running {
      const child = spawn(process.execPath, [path.join(COMMANDS, `${command}.ts`)], {
        env: {
          ...process.env,
          LOG_LEVEL: 'silent',
          CLICKHOUSE_URL: stage.databases.url,
          KAFKA_BROKERS: broker.brokers.join(','),
          KAFKA_TOPIC_PREFIX: stage.prefix,
          PROGRAM_ID: encodeBase58(history.programId),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let text = '';
      let last: string | null = null;
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (last !== null && text.includes(last)) child.kill('SIGKILL');
        });
      const self = {
        child,
        out: () => text,
        killAt: (words: string) => {
          last = words;
        },
        ended: once(child, 'exit').then(([code]) => code as number | null),
      };
      running.push(self);
      return self;
    }

    test('a killed replay resumes with its database, to which the materialiser moves after the switch', async () => {
      history = await openHistory(SEED, 40);
      stage = await openStage(broker.client, history.programId);
      const { home } = stage.databases;
      const first = `${home.database}_r1`;
      await stage.log.append(history.beginning);
      const live = start('materialise');
      await stage.applied(home);
      const before = await readTables(home);

      const killed = start('replay');
      killed.killAt(`filling ${first}`);
      expect(await killed.ended).toBe(null);
      expect((await readServing(home)).database).toBe(home.database);

      const again = start('replay');
      expect([await again.ended, again.out()]).toEqual([
        0,
        expect.stringContaining('materialise has taken over'),
      ]);
      expect(again.out()).toContain(`going on with ${first}`);
      expect(again.out()).toMatch(/replay 100 %, [\d,]+ of [\d,]+ records/);
      expect((await readServing(home)).database).toBe(first);
      const store = await stage.databases.open(first);
      expect(await readTables(store)).toEqual(before);

      await stage.log.append(await history.more(5));
      await stage.applied(store);
      expect((await readTables(store)).events?.length).toBeGreaterThan(before.events?.length as number);
      expect(await readTables(home)).toEqual(before);
      live.child.kill('SIGTERM');
      expect(await live.ended).toBe(0);
    });

    test('a materialiser exits with an error once a newer version has migrated its database', async () => {
      history = await openHistory(SEED, 5);
      stage = await openStage(broker.client, history.programId);
      const { home } = stage.databases;
      await stage.log.append(history.beginning);
      const live = start('materialise');
      await stage.applied(home);
      await bringFurther(home);
      expect([await live.ended, live.out()]).toEqual([1, expect.stringContaining(BROUGHT_FURTHER)]);
    });

    test('a replay that is stopped after its switch exits with 0, though no materialiser runs', async () => {
      history = await openHistory(SEED, 5);
      stage = await openStage(broker.client, history.programId);
      const { home } = stage.databases;
      await stage.log.append(history.beginning);
      const replay = start('replay');
      await awaited(() => expect(replay.out()).toContain('going on until npm run materialise'), 100);
      replay.child.kill('SIGTERM');
      expect([await replay.ended, (await readServing(home)).database]).toEqual([0, `${home.database}_r1`]);
      await stage.applied(await stage.databases.open(`${home.database}_r1`));
    });
  },
);
