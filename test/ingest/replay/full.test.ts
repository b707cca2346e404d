import kafkajs from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serveFrom } from '../../../api/latest/serving-store.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets, reaches } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { abandonReplay, beginReplay, unfinishedReplay } from '../../../clickhouse/serving/replays.ts';
import { readServing, switchServing } from '../../../clickhouse/serving/serving.ts';
import { materialiserGroup, topicName } from '../../../ingest/log/kafka/topics.ts';
import { rowCode } from '../../../ingest/operate/replay/row-code.ts';
import { BROUGHT_FURTHER, bringFurther } from '../../clickhouse/support/newer-schema.ts';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { readTables } from '../materialise/support/tables.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { type History, openHistory } from './support/history.ts';
import { type Broker, openBroker, openStage, type Run, type Stage } from './support/stage.ts';

const missing = brokerMissing();
const SEED = process.env.SEED ?? 'replay-1';
/** Looks are paused, as a reader that never rests would slow the replay. */
const LOOK_EVERY_MS = 20;

describe.skipIf(missing !== null)(
  `a replay of the whole log (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    let broker: Broker;
    let history: History;
    let stage: Stage;
    let home: Store;

    beforeAll(async () => {
      broker = await openBroker();
    });
    afterAll(() => broker.stop());
    beforeEach(async () => {
      history = await openHistory(SEED, 40);
      stage = await openStage(broker.client, history.programId);
      home = stage.databases.home;
    });
    afterEach(async () => {
      await stage.close();
      history.close();
    });

    async function begin(): Promise<void> {
      await stage.log.append(history.beginning);
      stage.live();
      await stage.applied(home);
    }

    const serving = async () => (await readServing(home)).database;
    const first = () => `${home.database}_r1`;
    const openFirst = () => stage.databases.open(first());

    test('fills a database that equals the former row for row, and the live materialiser goes on in it', async () => {
      await begin();
      const before = await readTables(home);
      expect(before.events).not.toHaveLength(0);
      expect(before.policyTotals).not.toHaveLength(0);
      const run = stage.replay();
      await run.done;
      expect(run.said).toContain('materialise has taken over');
      expect(run.said.join('\n')).not.toContain('holds open');
      expect(await serving()).toBe(first());
      const store = await openFirst();
      expect(await readTables(store)).toEqual(before);
      await stage.log.append(await history.more(5));
      await stage.applied(store);
      expect((await readTables(store)).events?.length).toBeGreaterThan(before.events?.length as number);
      expect(await readTables(home)).toEqual(before);
    });

    test('corrects facts, sums and states that are wrong', async () => {
      await begin();
      const right = await readTables(home);
      await home.command(
        "INSERT INTO events SELECT * REPLACE (amount_a + 1 AS amount_a) FROM events FINAL WHERE kind = 'FeesClaimed'",
      );
      await home.command(
        'INSERT INTO policy_totals SELECT * REPLACE (fees_quote + 7 AS fees_quote) FROM policy_totals FINAL',
      );
      await home.command(
        'INSERT INTO policies SELECT * REPLACE (hwm + 1 AS hwm, version + 1 AS version) FROM policies FINAL',
      );
      expect(await readTables(home)).not.toEqual(right);
      await stage.replay().done;
      expect(await readTables(await openFirst())).toEqual(right);
    });

    test('that is stopped in the middle resumes with the same database', async () => {
      await begin();
      let applied = 0;
      const dying = (store: Store): Store => ({
        ...store,
        insert: async (table, rows) => {
          if (store.database === first() && table === 'applied') {
            if (applied > 0) throw new Error('dead');
            applied += 1;
            // Rows of several partitions are inserted together: it dies with one of them written.
            await store.insert(table, rows.slice(0, 1));
            if (rows.length > 1) throw new Error('dead');
            return;
          }
          return store.insert(table, rows);
        },
      });
      const killed = stage.replay({}, dying);
      await awaited(() => expect(applied).toBe(1), 100);
      killed.stop();
      await expect(killed.done).rejects.toThrow(`npm run replay goes on with ${first()}`);
      const half = await openFirst();
      expect(reaches(await appliedOffsets(half), await appliedOffsets(home))).toBe(false);
      expect(await serving()).toBe(home.database);
      const run = stage.replay();
      await run.done;
      expect(run.said[0]).toContain(`going on with ${first()}`);
      expect(await readTables(half)).toEqual(await readTables(home));
      expect(await serving()).toBe(first());
    });

    test('does not resume a database that has less than its group committed; --fresh begins another', async () => {
      await begin();
      const group = materialiserGroup(stage.prefix, first());
      const committed = async () =>
        [...(await broker.client.groupOffsets(group, topicName(stage.prefix, 'accounts'))).values()].some(
          Boolean,
        );
      const stopped = stage.replay({}, neverLevel);
      await awaited(async () => expect(await committed()).toBe(true), 100);
      stopped.stop();
      await expect(stopped.done).rejects.toThrow('stopped before the switch');
      await (await openFirst()).command('TRUNCATE TABLE applied');
      await expect(stage.replay().done).rejects.toThrow(`${first()} has less than its group`);
      await stage.replay({ fresh: true }).done;
      expect(await serving()).toBe(`${home.database}_r2`);
    });

    test('switches though the live materialiser opens a gap while the gaps are compared', async () => {
      await begin();
      let opened = false;
      const meanwhile = (store: Store): Store => ({
        ...store,
        query: async (sql, params) => {
          const rows = await store.query<never>(sql, params);
          if (!sql.includes('min(closed) AS closed FROM gaps') || opened) return rows;
          opened = true;
          await stage.log.append([{ kind: 'gap', fromSlot: 20n, toSlot: 21n, toTime: null, closed: false }]);
          await stage.applied(home);
          return rows;
        },
      });
      await stage.replay({}, meanwhile).done;
      expect(opened).toBe(true);
      expect(await serving()).toBe(first());
    });

    test('names before its switch the gap that the log holds open and the former database closed', async () => {
      await stage.log.append(history.beginning);
      // An older version believed a backfill that had not read the transaction which the gap names.
      stage.live((batch) => ({
        ...batch,
        entries: batch.entries.map(({ record, ...entry }) =>
          record.kind === 'gap' && record.closed
            ? { ...entry, record: { ...record, toSlot: record.fromSlot } }
            : { ...entry, record },
        ),
      }));
      const gap = { kind: 'gap', toTime: null } as const;
      const unread = { obstacle: { type: 'unread', signature: 'S' } } as const;
      await stage.log.append([
        { ...gap, fromSlot: 20n, toSlot: 20n, closed: false, ...unread },
        { ...gap, fromSlot: 20n, toSlot: 500n, closed: true },
        { ...gap, fromSlot: 30n, toSlot: 40n, closed: false },
      ]);
      await stage.applied(home);
      const { said, done } = stage.replay();
      await done;
      const told = said.filter((sentence) => sentence.includes('holds open'));
      expect(told).toEqual([
        `the log holds open what ${home.database} has as read, from slot 20: in ${first()} sums over events are absent until ingest has read it, which it does by itself once readers are over, or npm run backfill -- --from-slot 20`,
      ]);
      expect(said.indexOf(told[0] as string)).toBeLessThan(
        said.findIndex((sentence) => sentence.includes('serves now')),
      );
      expect(await serving()).toBe(first());
    });

    test('does not resume a database that another version of the code began; --fresh begins another', async () => {
      await begin();
      await beginReplay(home, 'of another version');
      const sentence = `${first()} was begun by another version of this code`;
      await expect(stage.replay().done).rejects.toThrow(sentence);
      // A row from before the code was stored.
      await home.command('INSERT INTO replays SELECT * REPLACE (NULL AS code) FROM replays');
      const refused = stage.replay();
      await expect(refused.done).rejects.toThrow('npm run replay -- --fresh begins another');
      expect(refused.said).toEqual([]);
      expect(await serving()).toBe(home.database);
      const fresh = stage.replay({ fresh: true });
      await fresh.done;
      expect(fresh.said[0]).toContain(`${first()} is given up: once no run of before fills it any more`);
      expect(await serving()).toBe(`${home.database}_r2`);
    });

    test('does not switch when a newer version has migrated the serving database meanwhile', async () => {
      await begin();
      const second = `${home.database}_r2`;
      for (const further of [home.database, first()]) {
        if (further === first()) await stage.replay().done;
        const before = await serving();
        const filled = further === first() ? second : first();
        const meanwhile = (store: Store): Store => ({
          ...store,
          query: async (sql, params) => {
            const rows = await store.query<never>(sql, params);
            if (store.database === filled && sql.includes('min(closed) AS closed FROM gaps'))
              await (await stage.databases.open(further)).insert('migrations', [newer]);
            return rows;
          },
        });
        const run = stage.replay({}, meanwhile);
        await expect(run.done).rejects.toThrow(`a newer version of this code has brought ${further} further`);
        expect(await serving()).toBe(before);
        // The newer version finds the filled database, which only a fresh replay may discard.
        expect((await unfinishedReplay(home))?.database).toBe(filled);
        const { name } = newer;
        await deleteRows(await stage.databases.open(further), 'migrations', 'name = {name:String}', { name });
      }
    });
    const newer = { name: '9999_of_tomorrow.sql', checksum: 'x' };

    test('does not switch to a database that another run has given up meanwhile', async () => {
      await begin();
      const meanwhile = (store: Store): Store => ({
        ...store,
        query: async (sql, params) => {
          const rows = await store.query<never>(sql, params);
          if (store.database === first() && sql.includes('min(closed) AS closed FROM gaps')) {
            await abandonReplay(home, first());
            await beginReplay(home, rowCode());
          }
          return rows;
        },
      });
      await expect(stage.replay({}, meanwhile).done).rejects.toThrow(`${first()} was given up meanwhile`);
      expect(await serving()).toBe(home.database);
      expect((await unfinishedReplay(home))?.database).toBe(`${home.database}_r2`);
    });

    /** A store that does not show what is applied, so that the replay never catches up. */
    const neverLevel = (store: Store): Store => ({
      ...store,
      query: async (sql, params) => {
        const rows = await store.query<never>(sql, params);
        return sql.includes('AS place, log_offset FROM applied') ? [] : rows;
      },
    });

    test('stops when a newer version migrates the serving database while it reads, before any switch', async () => {
      await begin();
      const run = stage.replay({}, neverLevel);
      await awaited(() => expect(run.said).toContain(`filling ${first()}`), 100);
      await bringFurther(home);
      await expect(run.done).rejects.toThrow(
        `a newer version of this code has brought ${home.database} further`,
      );
      expect(await serving()).toBe(home.database);
    });

    test('stops after its switch when a newer version migrates its database before a materialiser takes over', async () => {
      await stage.log.append(history.beginning);
      const run = stage.replay();
      await awaited(() => expect(run.said.at(-1)).toContain('going on until npm run materialise'), 100);
      await bringFurther(await openFirst());
      await expect(run.done).rejects.toThrow(BROUGHT_FURTHER);
    });

    test('that was killed right after its switch has nothing left to do', async () => {
      await begin();
      await beginReplay(home, rowCode());
      await stage.databases.openMigrated(first());
      await switchServing(home, { from: home.database, to: first() }, null);
      const run = stage.replay();
      await run.done;
      expect(run.said).toEqual([`${first()} serves already: an earlier run was ended after its switch`]);
      expect(await unfinishedReplay(home)).toBe(null);
    });

    test('never lowers the event count that a reader sees, while the live materialiser goes on', async () => {
      await begin();
      const stop = new AbortController();
      const follower = serveFrom({
        openHome: async () => ({ ...home, close: async () => {} }),
        openDatabase: stage.databases.open,
        isOfProgram: async () => true,
        signal: stop.signal,
        onError: () => {},
      });
      const seen: { events: number; database: string }[] = [];
      const read = async () => {
        await follower.firstAttempt;
        while (!stop.signal.aborted) {
          seen.push(await look(follower.currentStore()));
          await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
        }
      };
      const reading = read();
      const run = stage.replay();
      await appendUntil(run, 60);
      await awaited(() => expect(seen.at(-1)?.database).toBe(first()), 100);
      await stage.applied(await openFirst());
      stop.abort();
      await reading;
      await follower.close();
      const counts = seen.map(({ events }) => events);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      const at = seen.findIndex(({ database }) => database === first());
      expect(new Set(seen.slice(at).map(({ database }) => database))).toEqual(new Set([first()]));
      expect(counts.at(-1)).toBeGreaterThan(counts[0] as number);
    });

    async function look(store: Store) {
      const [row] = await store.query<{ events: string }>(
        'SELECT toString(sum(t.event_count)) AS events FROM policy_totals AS t FINAL',
      );
      return { events: Number(row?.events), database: store.database };
    }

    /** Makes blocks for as long as the replay runs, then some more. */
    async function appendUntil(run: Run, most: number): Promise<void> {
      let going = true;
      void run.done.finally(() => {
        going = false;
      });
      for (let made = 0; made < most && going; made += 1) await stage.log.append(await history.more(1));
      await run.done;
      await stage.log.append(await history.more(3));
    }

    test('is refused where retention has cut the log, and begins no database', async () => {
      await begin();
      const admin = new kafkajs.Kafka({ brokers: broker.brokers, logLevel: 0 }).admin();
      await admin.connect();
      const topic = topicName(stage.prefix, 'transactions');
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 1, offset: '2' }] });
      await admin.disconnect();
      await expect(stage.replay().done).rejects.toThrow(
        `retention has cut ${topic}/1, whose first record is 2 by now`,
      );
      expect(await serving()).toBe(home.database);
      expect(await home.query('SELECT * FROM replays')).toEqual([]);
    });

    test('is refused where the log is empty, or ends before what is applied', async () => {
      await expect(stage.replay().done).rejects.toThrow('it lacks even the record that opens history');
      await stage.log.append(history.beginning);
      await home.insert('applied', [
        {
          ...{ topic: 'transactions', log_partition: 0, log_offset: '1000000', slot: '1', block_time: null },
          ...{ last_signature: null, last_signature_slot: '0', last_signature_index: 0, applied_at: '0' },
        },
      ]);
      await expect(stage.replay().done).rejects.toThrow(
        'is not the one that the serving database was made from',
      );
    });
  },
);
