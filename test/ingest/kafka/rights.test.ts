import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { readLogPosition } from '../../../ingest/log/kafka/position.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { ensureTopics } from '../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import { checksOf } from '../../../ingest/operate/doctor/checks.ts';
import { runChecks } from '../../../ingest/operate/doctor/report.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { openLog } from '../../../start/log.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';
import { freshDatabase, urlOf } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { loginBrokers, sharedBrokers } from '../../support/servers-of-run.ts';
import { readyOf, startCommand } from '../support/command-child.ts';
import { accountRecord, markerRecord, transactionRecord } from '../support/records.ts';

const missing = brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'brokers were given');
const silent = createLogger('silent', 'test');
const LOGIN = { mechanism: 'plain', username: 'bankroll', password: 'devnet-only' } as const;
const { AclResourceTypes, ResourcePatternTypes, AclOperationTypes, AclPermissionTypes } = kafkajs;

describe.skipIf(missing !== null)(`a Kafka login${missing === null ? '' : ` (${missing})`}`, () => {
  let owner: KafkaClient;
  let client: KafkaClient;
  let rights: kafkajs.Admin;
  let count = 0;

  beforeAll(async () => {
    const brokers = await sharedBrokers();
    const common = { tls: false, clientId: 'test' };
    owner = createKafkaClient({ ...common, brokers, sasl: null }, silent);
    client = createKafkaClient(
      { ...common, brokers: (await loginBrokers()) as string[], sasl: LOGIN },
      silent,
    );
    rights = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
    await rights.connect();
  });
  afterAll(async () => {
    await rights.disconnect();
    await client.close();
    await owner.close();
  });

  /** Makes a log with a record in each partition; the login has only this right to its topics, or its groups. */
  async function logWith(what: 'topics' | 'groups', operation: kafkajs.AclOperationTypes): Promise<string> {
    count += 1;
    const prefix = `rights-${process.pid}-${Date.now()}-${count}`;
    await ensureTopics(owner, { prefix, partitions: 1, replication: null, retentionMs: '-1' });
    const writer = createKafkaWriter(owner, prefix);
    await writer.append([accountRecord(1n, 1), transactionRecord(1n, 1), markerRecord(1n)]);
    await writer.close();
    await grant(prefix, what, operation);
    return prefix;
  }

  async function grant(prefix: string, what: 'topics' | 'groups', operation: kafkajs.AclOperationTypes) {
    const all = {
      principal: 'User:bankroll',
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    };
    await rights.createAcls({
      acl: [
        {
          ...all,
          resourceType: what === 'topics' ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
          resourceName: prefix,
          resourcePatternType: ResourcePatternTypes.PREFIXED,
        },
      ],
    });
  }

  const envOf = async (prefix: string) => ({
    KAFKA_BROKERS: String(await loginBrokers()),
    KAFKA_SASL_MECHANISM: LOGIN.mechanism,
    KAFKA_SASL_USERNAME: LOGIN.username,
    KAFKA_SASL_PASSWORD: LOGIN.password,
    KAFKA_TOPIC_PREFIX: prefix,
  });

  async function kafkaLines(prefix: string): Promise<string[]> {
    const lines: string[] = [];
    const never = new AbortController().signal;
    const checks = checksOf(readConfig(await envOf(prefix)));
    await runChecks(checks, (line) => lines.push(line), never, PATIENCE_MS);
    return lines.filter((line) => line.includes(' KAFKA_BROKERS '));
  }

  /** Retries, as a broker that has just started first answers that it is not ready. */
  const positionFails = (prefix: string, why: RegExp) =>
    awaited(() => expect(readLogPosition(client, prefix, async () => new Map())).rejects.toThrow(why));

  async function endOf(prefix: string): Promise<string> {
    const stop = new AbortController();
    let told = '';
    const reader = createKafkaReader(client, {
      ...{ prefix, group: `${prefix}-g`, logger: silent },
      onEnded: ({ message }) => {
        told = message;
        if (message.startsWith('Not authorized')) stop.abort();
      },
    });
    await reader.run(async () => {}, stop.signal);
    return told;
  }

  const WHAT_TO_DO = /: give the login the rights that docs\/operations\.md names$/;

  test('without the right to read the topics: the position and the doctor fail with that reason', async () => {
    const prefix = await logWith('topics', AclOperationTypes.WRITE);
    await positionFails(prefix, /Not authorized to access topics/);
    const [line] = await kafkaLines(prefix);
    expect(line).toMatch(/^failed .*Not authorized to access topics/);
    expect(line).toMatch(WHAT_TO_DO);
  });

  test('without the right to join groups: the position and the doctor fail with that reason', async () => {
    const prefix = await logWith('groups', AclOperationTypes.DESCRIBE);
    await positionFails(prefix, /Not authorized to access group/);
    const [line] = await kafkaLines(prefix);
    expect(line).toMatch(/^failed .*Not authorized to access group/);
    expect(line).toMatch(WHAT_TO_DO);
  });

  test('with all rights: the position is read, and the doctor tells a readable, an empty and a missing log apart', async () => {
    const prefix = await logWith('topics', AclOperationTypes.ALL);
    expect(await readLogPosition(client, prefix, async () => new Map())).toEqual({
      slot: 1n,
      followed: 1n,
    });
    expect(await kafkaLines(prefix)).toEqual([
      expect.stringMatching(/^ok .*entered by plain, its log can be read$/),
    ]);
    const groups = await rights.listGroups();
    expect(groups.groups.filter(({ groupId }) => groupId.startsWith(prefix))).toEqual([]);
    const empty = `${prefix}-empty`;
    await ensureTopics(client, { prefix: empty, partitions: 1, replication: 1, retentionMs: '-1' });
    expect(await kafkaLines(empty)).toEqual([
      expect.stringMatching(/^ok .*entered by plain$/),
      expect.stringMatching(/^note .*its log has no record yet: whether it can be read shows/),
    ]);
    const [entered, none] = await kafkaLines(`${prefix}x`);
    expect(entered).toMatch(/^ok .*entered by plain$/);
    expect(none).toMatch(/^note .*it does not show all topics of the log .*run npm run migrate/);
  });

  test('without the right to join groups: the reader reports that it is not authorized', async () => {
    const prefix = await logWith('groups', AclOperationTypes.DESCRIBE);
    expect(await endOf(prefix)).toMatch(/Not authorized to access group/);
  });

  test('without the right to join groups: npm start retries its check of the log until the right is granted', async () => {
    const prefix = await logWith('groups', AclOperationTypes.DESCRIBE);
    const store = await freshDatabase();
    onTestFinished(() => store.close());
    const told: string[] = [];
    const logger = Object.assign(Object.create(silent), {
      warn: ({ error }: { error?: string }) => told.push(error ?? ''),
    });
    const opening = openLog(readConfig(await envOf(prefix)), store, logger);
    const refused = awaited(() => expect(told.join('\n')).toMatch(/Not authorized to access group/));
    await Promise.race([refused, opening]);
    await refused;
    expect(await store.query('SELECT * FROM log_partitions')).toEqual([]);
    await grant(prefix, 'groups', AclOperationTypes.ALL);
    const log = await opening;
    expect(await log.position()).toEqual({ slot: 1n, followed: 1n });
    await log.close();
  });

  test('without the right to join groups: materialise is not ready and says so, until the right is granted', async () => {
    const prefix = await logWith('groups', AclOperationTypes.DESCRIBE);
    // The groups in which it asks of which program the log is.
    await grant(`${prefix}-accounts-position`, 'groups', AclOperationTypes.ALL);
    const [store, port] = [await freshDatabase(), await freePort()];
    onTestFinished(() => store.close());
    const { child, ended } = startCommand('materialise', {
      ...(await envOf(prefix)),
      ...{ CLICKHOUSE_URL: urlOf(store), HOST: '127.0.0.1', METRICS_PORT: String(port) },
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const why = /^consumer group: this process has no partitions: Not authorized to access group/;
    await awaited(async () =>
      expect(await readyOf(port)).toEqual({ ready: false, missing: [expect.stringMatching(why)] }),
    );
    await grant(prefix, 'groups', AclOperationTypes.ALL);
    await awaited(async () => expect(await readyOf(port)).toEqual({ ready: true, missing: [] }));
  });

  test('without the right to read the topics: the reader reports that it is not authorized', async () => {
    const prefix = await logWith('topics', AclOperationTypes.WRITE);
    expect(await endOf(prefix)).toMatch(/Not authorized to access topics/);
  });
});
