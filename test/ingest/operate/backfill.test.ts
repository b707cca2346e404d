import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openServer, type Store } from '../../../clickhouse/client.ts';
import { appliedOffsets, reaches } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { openGaps } from '../../../clickhouse/queries/progress/stream-store.ts';
import { migrate } from '../../../clickhouse/schema/migrate.ts';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { endsOf, ensureTopics, topicName } from '../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import type { LogBatch, LogWriter } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { lockDataDir } from '../../../runtime/process/data-lock.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyTokenAccounts } from '../../../schemas/solana/pda.ts';
import { BROUGHT_FURTHER, bringFurther } from '../../clickhouse/support/newer-schema.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabaseUrl } from '../../support/database.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { readTables } from '../materialise/support/tables.ts';
import { startCommand } from '../support/command-child.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { createLogModel } from '../support/log-model.ts';

const missing = brokerMissing();
/** Offset of the amount in a token account's data. */
const TOKEN_AMOUNT_AT = 64;
const dataDir = mkdtempSync(path.join(tmpdir(), 'backfill-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const backfill = (env: Record<string, string>, args: string[] = []) =>
  startCommand('backfill', { DATA_DIR: dataDir, ...env }, args);

describe('backfill that cannot start', () => {
  test('stops with a sentence that names the variable which is not set', async () => {
    const servers = {
      KAFKA_BROKERS: '127.0.0.1:1',
      CLICKHOUSE_URL: 'http://127.0.0.1:1/x',
      SOLANA_RPC_URL: 'http://127.0.0.1:1',
    };
    for (const name of Object.keys(servers)) {
      const { code, err } = await backfill({ ...servers, [name]: '' }).ended;
      expect(code).toBe(1);
      expect(err).toMatch(new RegExp(`^${name} is not set: [^\n]+\n$`));
    }
  });

  test('stops with a sentence that names the process which holds DATA_DIR', async () => {
    const unlock = lockDataDir(dataDir);
    const { code, err } = await backfill({}).ended;
    unlock();
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^DATA_DIR .* is in use by process ${process.pid}[^\n]+\n$`));
  });

  test('stops with a sentence that says what is wrong with a flag', async () => {
    const noSlot = await backfill({}, ['--from-slot', 'x']).ended;
    expect([noSlot.code, noSlot.err]).toEqual([1, '--from-slot must be a whole number from 0, not "x"\n']);
    const { code, err } = await backfill({}, ['--until', '5']).ended;
    expect(code).toBe(1);
    expect(err).toMatch(/^Unknown option '--until'[^\n]*\n$/);
  });
});

describe.skipIf(missing !== null)(`backfill into Kafka${missing === null ? '' : ` (${missing})`}`, () => {
  const prefix = `backfill-${process.pid}-${Date.now()}`;
  const clickhouseUrl = freshDatabaseUrl();
  const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
  const stop = new AbortController();
  const model = createLogModel(2);
  let client: KafkaClient;
  let writer: LogWriter;
  let store: Store;
  let chain: Chain;
  let rpc: RpcServer;
  let reading: Promise<void>;
  let env: Record<string, string>;

  beforeAll(async () => {
    const brokers = await sharedBrokers();
    client = createKafkaClient({ brokers, tls: false, sasl: null, clientId: 'test' }, logger);
    await ensureTopics(client, { prefix, partitions: 2, replication: null, retentionMs: '-1' });
    writer = createKafkaWriter(client, prefix);
    store = await openServer(clickhouseUrl, null);
    await migrate(store, null);
    chain = createChain({ dir: null, seed: 'backfill', genesisTime: 1_760_000_000_000 });
    const life = createLife(chain, { seed: 'backfill', policies: 20, rate: 6 });
    for (let block = 0; block < 250; block += 1) await chain.produce(life.next());
    // A backfill does not read the newest 32 slots.
    for (let block = 0; block < 40; block += 1) await chain.produce([]);
    rpc = await serveRpc({ ledger: chain, port: 0 });
    const materialise = createMaterialiser({ store, programId: decodeKey(chain.programId) as Uint8Array });
    const read = async (batch: LogBatch) => {
      await model.apply(batch);
      await materialise(batch);
    };
    reading = createKafkaReader(client, { prefix, group: `${prefix}-all`, logger }).run(read, stop.signal);
    env = {
      KAFKA_BROKERS: brokers.join(','),
      KAFKA_TOPIC_PREFIX: prefix,
      CLICKHOUSE_URL: clickhouseUrl,
      SOLANA_RPC_URL: rpc.url,
      PROGRAM_ID: chain.programId,
    };
  });

  afterAll(async () => {
    stop.abort();
    await reading;
    await writer.close();
    await client.close();
    await rpc.close();
    chain.close();
    await store.command(`DROP DATABASE ${store.database} SYNC`);
    await store.close();
  });

  /** Resolves once all that the log holds is applied. */
  async function applied(): Promise<void> {
    const target = new Map<string, bigint>();
    for (const topic of ['accounts', 'transactions'] as const) {
      for (const [at, end] of await endsOf(client, topicName(prefix, topic))) {
        if (end > 0n) target.set(`${topic}/${at}`, end - 1n);
      }
    }
    await awaited(async () => {
      if (!reaches(await appliedOffsets(store), target)) throw new Error('not all is applied');
    });
  }

  const storedSignatures = async () =>
    new Set(
      (await store.query<{ signature: string }>('SELECT signature FROM transactions FINAL')).map(
        ({ signature }) => signature,
      ),
    );
  const cursors = () => readdirSync(dataDir).filter((name) => /^backfill-.*\.json$/.test(name));
  const succeeded = () => ledgerTransactions(chain);

  test('a run that was killed resumes, reads every transaction and closes the gap of the stream', async () => {
    const tip = chain.tip().slot;
    await writer.append([{ kind: 'gap', fromSlot: 0n, toSlot: tip - 35n, toTime: null, closed: false }]);
    await applied();
    const first = backfill(env);
    await awaited(() => {
      if (cursors().length === 0) throw new Error('no place is kept yet');
    });
    first.child.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    await applied();
    const before = await storedSignatures();
    expect(before.size).toBeGreaterThan(0);
    expect(before.size).toBeLessThan(succeeded().length);
    expect(await openGaps(store)).toHaveLength(1);

    const { code, out, err } = await backfill(env).ended;
    expect(code, err).toBe(0);
    expect(out).toMatch(
      /^going on with the run of [^\n]+\n\d+ accounts, \d+ transactions; gaps closed: 0 to \d+\n$/,
    );
    expect(err).toMatch(/^transactions 100 %, \d+ of \d+ slots, (.+, )?\d+ read$/m);
    expect(Number(/ (\d+) transactions/.exec(out)?.[1])).toBeLessThan(succeeded().length);
    expect(cursors()).toEqual([]);
    await applied();
    const stored = await storedSignatures();
    expect(succeeded().filter(({ signature }) => !stored.has(signature))).toEqual([]);
    expect(await openGaps(store)).toEqual([]);
  });

  test('logs every account of the program, and mints and tokens of its policies, as the chain has them', () => {
    const owned = chain.accountsByOwner(decodeKey(chain.programId) as Uint8Array);
    expect(owned.filter(({ address }) => !model.accounts.has(encodeBase58(address)))).toEqual([]);
    expect(wrongStates(chain, model)).toEqual([]);
  });

  test('stores every account that the program owns, and the balance of the bankroll of each policy', async () => {
    const rows = await store.query<{ address: string }>(
      `SELECT address FROM policies FINAL WHERE exists UNION ALL SELECT address FROM venue_accounts FINAL WHERE exists
         UNION ALL SELECT address FROM origins FINAL WHERE exists UNION ALL SELECT address FROM models FINAL WHERE exists
         UNION ALL SELECT address FROM protocol_config FINAL WHERE exists`,
    );
    const owned = chain.accountsByOwner(decodeKey(chain.programId) as Uint8Array);
    expect(new Set(rows.map(({ address }) => address))).toEqual(
      new Set(owned.map(({ address }) => encodeBase58(address))),
    );
    const balances = await store.query<{ policy: string; balance: string }>(
      `SELECT p.address AS policy, toString(t.amount) AS balance FROM policies AS p FINAL
       JOIN token_accounts AS t FINAL ON t.address = p.bankroll WHERE p.exists AND t.exists`,
    );
    const program = decodeKey(chain.programId) as Uint8Array;
    const bankrolls = [...chain.state().policies.keys()].map((policy) => {
      const { bankroll } = policyTokenAccounts(program, decodeKey(policy) as Uint8Array);
      const { data } = chain.account(bankroll) as { data: Uint8Array };
      return [policy, Buffer.from(data).readBigUInt64LE(TOKEN_AMOUNT_AT).toString()];
    });
    expect(Object.fromEntries(balances.map(({ policy, balance }) => [policy, balance]))).toEqual(
      Object.fromEntries(bankrolls),
    );
    expect(new Set(bankrolls.map(([, balance]) => balance)).size).toBeGreaterThan(1);
  });

  test('a run stopped before ClickHouse answers says that nothing was read, and exits with 1', async () => {
    const waits = backfill({ ...env, CLICKHOUSE_URL: 'http://127.0.0.1:1/x', LOG_LEVEL: 'warn' });
    await awaited(() => {
      if (!waits.said().includes('opening ClickHouse')) throw new Error('it does not ask for ClickHouse yet');
    });
    waits.child.kill('SIGTERM');
    const { code, err } = await waits.ended;
    expect(code).toBe(1);
    expect(err).toMatch(/\nstopped before anything was read: run it again to go on\n$/);
  });

  test('a run exits with 1 once a newer version has migrated the database further', async () => {
    const waits = backfill({ ...env, SOLANA_RPC_URL: 'http://127.0.0.1:1', LOG_LEVEL: 'warn' });
    await awaited(() => {
      if (!waits.said().includes('where to begin')) throw new Error('it is not at work yet');
    });
    await bringFurther(store);
    const { code, err } = await waits.ended;
    expect([code, err]).toEqual([1, expect.stringContaining(BROUGHT_FURTHER)]);
    await deleteRows(store, 'migrations', "startsWith(name, '9999')");
  });

  test('a second run, whole or in part, changes no figure and no gap', async () => {
    const before = await readTables(store);
    expect((await backfill(env).ended).code).toBe(0);
    const from = String(chain.tip().slot - 90n);
    const { code, out } = await backfill(env, ['--from-slot', from]).ended;
    expect(code).toBe(0);
    const read = Number(/ (\d+) transactions/.exec(out)?.[1]);
    expect(read).toBeGreaterThanOrEqual(succeeded().filter(({ slot }) => slot >= BigInt(from)).length);
    expect(read).toBeLessThan(succeeded().length);
    await applied();
    expect(await readTables(store)).toEqual(before);
  });

  test('a gap that begins before what was read stays open', async () => {
    const tip = chain.tip().slot;
    await writer.append([
      { kind: 'gap', fromSlot: tip - 100n, toSlot: tip - 60n, toTime: null, closed: false },
      { kind: 'gap', fromSlot: tip - 50n, toSlot: tip - 45n, toTime: null, closed: false },
    ]);
    await applied();
    const { out } = await backfill(env, ['--from-slot', String(tip - 70n)]).ended;
    expect(out).toMatch(new RegExp(`gaps closed: ${tip - 50n} to ${tip - 45n}\ngap ${tip - 100n} to .+\n$`));
    await applied();
    expect((await openGaps(store)).map(({ fromSlot }) => fromSlot)).toEqual([tip - 100n]);
  });
});
