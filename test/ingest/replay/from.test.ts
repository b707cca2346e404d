import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets, reaches } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { switchServing } from '../../../clickhouse/serving/serving.ts';
import { logRanges, recordsIn } from '../../../ingest/log/kafka/offset-ranges.ts';
import { parseFrom } from '../../../ingest/operate/replay/from.ts';
import { replayOf } from '../../../ingest/operate/replay/kinds.ts';
import { BROUGHT_FURTHER, bringFurther } from '../../clickhouse/support/newer-schema.ts';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { readTables } from '../materialise/support/tables.ts';
import { type History, openHistory } from './support/history.ts';
import { type Broker, type Live, openBroker, openStage, type Run, type Stage } from './support/stage.ts';

const missing = brokerMissing();
const SEED = process.env.SEED ?? 'replay-2';

describe.skipIf(missing !== null)(
  `a replay of a part of the log (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    let broker: Broker;
    let history: History;
    let stage: Stage;
    let home: Store;
    let live: Live;

    beforeAll(async () => {
      broker = await openBroker();
    });
    afterAll(() => broker.stop());
    beforeEach(async () => {
      history = await openHistory(SEED, 30);
      stage = await openStage(broker.client, history.programId);
      home = stage.databases.home;
      await stage.log.append(history.beginning);
      live = stage.live();
      await stage.applied(home);
    });
    afterEach(async () => {
      await stage.close();
      history.close();
    });

    test('changes no row where nothing was wrong, while the live materialiser goes on', async () => {
      const before = await readTables(home);
      const applied = await appliedOffsets(home);
      const run = stage.replay({ from: '0' });
      await run.done;
      expect(run.said.at(-1)).toMatch(/^\d+ records were re-read into/);
      expect(await readTables(home)).toEqual(before);
      expect(reaches(await appliedOffsets(home), applied)).toBe(true);
    });

    test('corrects facts, sums and states that are wrong or lost', async () => {
      const right = await readTables(home);
      for (const table of ['events', 'events_by_slot', 'policy_transactions', 'token_accounts'])
        await home.command(`TRUNCATE TABLE ${table}`);
      await home.command(
        'INSERT INTO policy_totals SELECT * REPLACE (fees_quote + 7 AS fees_quote) FROM policy_totals FINAL',
      );
      await home.command(
        'INSERT INTO quote_days SELECT * REPLACE (profit + 7 AS profit) FROM quote_days FINAL',
      );
      await home.command('INSERT INTO policies SELECT * REPLACE (hwm + 1 AS hwm) FROM policies FINAL');
      expect(await readTables(home)).not.toEqual(right);
      await stage.replay({ from: '0' }).done;
      expect(await readTables(home)).toEqual(right);
    });

    test('given a time begins with the first record appended since then', async () => {
      const run = stage.replay({ from: new Date().toISOString() });
      await run.done;
      expect(run.said.at(-1)).toMatch(/^0 records/);
      const count = [...(await appliedOffsets(home))].reduce(
        (sum, [, offset]) => sum + Number(offset) + 1,
        0,
      );
      const whole = stage.replay({ from: new Date(Date.now() - 3_600_000).toISOString() });
      await whole.done;
      expect(Number(whole.said.at(-1)?.split(' ')[0])).toBe(count);
    });

    const appliedAt = (topic: string, offset: bigint) =>
      home.insert('applied', [
        {
          ...{ topic, log_partition: 0, log_offset: offset.toString(), slot: '1', block_time: null },
          ...{ last_signature: null, last_signature_slot: '0', last_signature_index: 0, applied_at: '0' },
        },
      ]);

    test('is refused on a log that has lost its end, and appends nothing', async () => {
      await live.stop();
      const held = await logRanges(broker.client, stage.prefix);
      await appliedAt('transactions', 1_000_000n);
      for (const flags of [{ from: '0' }, { 'dead-letters': true }])
        await expect(stage.replay(flags).done).rejects.toThrow('has lost its end');
      expect(await logRanges(broker.client, stage.prefix)).toEqual(held);
    });

    test('reads what is left of the readings where their log has lost its end', async () => {
      await appliedAt('readings', 1_000_000n);
      const run = stage.replay({ from: '0' });
      await run.done;
      expect(run.said.at(-1)).toMatch(/^\d+ records were re-read into/);
    });

    /** A replay that has asked for sums while no materialiser makes them. */
    async function waiting(): Promise<Run> {
      await live.stop();
      const ends = async () => recordsIn(await logRanges(broker.client, stage.prefix));
      const before = await ends();
      const run = stage.replay({ from: '0' });
      await awaited(async () => expect(await ends()).toBeGreaterThan(before), 100);
      return run;
    }

    test('stops with an error when a newer version migrates the database meanwhile', async () => {
      const run = await waiting();
      await bringFurther(home);
      await expect(run.done).rejects.toThrow(BROUGHT_FURTHER);
    });

    test('stops with an error when another database becomes the serving one meanwhile', async () => {
      const run = await waiting();
      await switchServing(home, { from: home.database, to: `${home.database}_r1` }, null);
      await expect(run.done).rejects.toThrow('serves by now');
    });
  },
);

describe('the flags of npm run replay', () => {
  test('--from takes an offset or a time with its zone', () => {
    expect(parseFrom('12')).toEqual({ offset: 12n });
    expect(parseFrom('2026-01-31T12:00:00Z')).toEqual({ millis: Date.UTC(2026, 0, 31, 12) });
    expect(parseFrom('2026-01-31T12:00+01:00')).toEqual({ millis: Date.UTC(2026, 0, 31, 11) });
    for (const text of ['-1', 'yesterday', '2026-01-31', '2026-13-31T12:00:00Z', '2026-02-30T12:00:00Z', ''])
      expect(() => parseFrom(text)).toThrow('--from must be an offset or a time');
  });

  test('--from refuses a future time, with which nothing would be read and all would look well', () => {
    const now = Date.UTC(2026, 0, 31, 12);
    expect(parseFrom('2026-01-31T12:00:00Z', now)).toEqual({ millis: now });
    expect(() => parseFrom('2026-01-31T12:00:01Z', now)).toThrow(
      '--from 2026-01-31T12:00:01Z is still to come',
    );
  });

  test('--from and --fresh are refused together', () => {
    expect(() => replayOf({ from: '1', fresh: true })).toThrow('--from and --fresh do not go together');
  });
});
