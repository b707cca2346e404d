import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { materialiserGroup, topicName } from '../../../ingest/log/kafka/topics.ts';
import { HISTORY_TOPICS } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { openLog, type SharedLog } from '../../../start/log.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabase, urlOf } from '../../support/database.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { startCommand } from '../support/command-child.ts';
import { markerRecord } from '../support/records.ts';

const missing = brokerMissing();

describe.skipIf(missing !== null)(
  `a materialiser group whose committed offsets the brokers have deleted${missing === null ? '' : ` (${missing})`}`,
  () => {
    const prefix = `forgotten-${process.pid}-${Date.now()}`;
    let client: KafkaClient;
    let store: Store;
    let env: Record<string, string>;

    beforeAll(async () => {
      const brokers = await sharedBrokers();
      const settings = { brokers, tls: false, sasl: null, clientId: 'test' };
      client = createKafkaClient(settings, createLogger('silent', 'test'));
      store = await freshDatabase();
      env = {
        ...{ KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC_PREFIX: prefix, KAFKA_PARTITIONS: '1' },
        CLICKHOUSE_URL: urlOf(store),
      };
    });
    afterAll(async () => {
      await client.close();
      await store.close();
    });

    /** Waits for the commit, as applied rows show before it: a stop in between leaves the group without an offset. */
    async function committed(log: SharedLog): Promise<void> {
      const group = materialiserGroup(prefix, store.database);
      for (const topic of HISTORY_TOPICS) {
        const ends = await log.ends(topic);
        await awaited(async () =>
          expect(await client.groupOffsets(group, topicName(prefix, topic))).toEqual(ends),
        );
      }
    }

    /** Opens the log and applies it up to a slot that is appended. @returns its warnings */
    async function work(slot: bigint): Promise<string> {
      let said = '';
      const lines = new Writable({
        write: (line, _encoding, done) => {
          said += line;
          done();
        },
      });
      const log = await openLog(readConfig(env), store, pino({ level: 'warn' }, lines));
      const stop = new AbortController();
      await log.append([markerRecord(slot)]);
      const running = log.run(createMaterialiser({ store, programId: new Uint8Array(32) }), stop.signal);
      await awaited(async () => expect(await log.applied?.()).toBe(slot));
      await committed(log);
      stop.abort();
      await running;
      await log.close();
      return said;
    }

    /** Deletes the group, as brokers do a week after its last member has left. */
    const forget = () =>
      awaited(async () => {
        await client.deleteGroup(materialiserGroup(prefix, store.database));
      });

    test('makes npm start warn once that the log is read again, and how many records that is', async () => {
      expect(await work(1n)).not.toContain('read again');
      expect(await work(2n)).not.toContain('read again');
      await forget();
      const said = await work(3n);
      expect(said).toMatch(/"records":4,.*the log is read again from its beginning/);
      expect(await work(4n)).not.toContain('read again');
    });

    test('makes npm run materialise warn, too', async () => {
      await work(5n);
      const records = [...(await appliedOffsets(store)).values()].reduce((sum, last) => sum + last + 1n, 0n);
      await forget();
      const { child, said } = startCommand('materialise', { ...env, LOG_LEVEL: 'warn' });
      onTestFinished(() => void child.kill('SIGKILL'));
      const sentence = new RegExp(`"records":${records},.*the log is read again from its beginning`);
      await awaited(() => expect(said()).toMatch(sentence));
    });
  },
);
