import type { Store } from '../../../clickhouse/client.ts';
import type { AppliedRow } from '../../../clickhouse/progress-tables.ts';
import { createAnnouncer } from '../../../clickhouse/queries/progress/changes.ts';
import { declarePartitions } from '../../../clickhouse/queries/progress/log-partitions.ts';
import { openStore } from '../../../clickhouse/serving/open-serving.ts';
import type { EventRow } from '../../../clickhouse/tables.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { openKafka } from '../../../ingest/log/kafka/open.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { materialiserGroup, partitionsOf } from '../../../ingest/log/kafka/topics.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import { runService } from '../../../runtime/process/service.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { addingUp, believingItsGroup, committingFirst, inTwoSteps } from './flaws.ts';

/**
 * The product's materialiser with one rule broken (FLAW), or none, which kills or stops itself at a certain moment once
 * its parent has armed it by a message.
 */
const FLAWS = ['none', 'commit-first', 'additive', 'last-writer-wins'] as const;
type Flaw = (typeof FLAWS)[number];

const COMMAND = { usage: 'flawed-materialise', about: 'Materialises wrongly.', flags: {} };
const flaw = process.env.FLAW as Flaw;
if (!FLAWS.includes(flaw)) throw new TypeError(`FLAW must be one of ${FLAWS.join(', ')}`);

let armed: 'die-before-insert' | 'die-before-applied' | 'stop-in-recompute' | null = null;
process.on('message', ({ arm }: { arm?: typeof armed }) => {
  if (arm !== undefined) armed = arm;
});

let wasStopped = false;
const stopHere = () =>
  new Promise<void>((resolve) => {
    if (armed !== 'stop-in-recompute') return resolve();
    armed = null;
    process.send?.({ stopping: true }, () => {
      process.kill(process.pid, 'SIGSTOP');
      wasStopped = true;
      resolve();
    });
  });

/** Kinds of events whose sums are in the answers that are compared. */
const TOLD = ['FeesClaimed', 'Routed', 'ProfitSwept', 'BuybackBurned'];

/** Dies before events of those kinds are written, or after their sums are and before the applied marker is. */
function dying(store: Store): Store {
  let touched = false;
  return {
    ...store,
    insert: async (table, rows) => {
      const isTold = table === 'events' && (rows as EventRow[]).some(({ kind }) => TOLD.includes(kind));
      if (isTold && armed === 'die-before-insert') process.kill(process.pid, 'SIGKILL');
      touched ||= isTold && armed === 'die-before-applied';
      const isOfSums =
        table === 'applied' && (rows as AppliedRow[]).some(({ topic }) => topic === 'transactions');
      if (isOfSums && touched) process.kill(process.pid, 'SIGKILL');
      await store.insert(table, rows);
    },
  };
}

const STORES: Record<Flaw, (store: Store) => Store> = {
  none: (store) => dying(inTwoSteps(store, { between: stopHere, written: toldLate(store) })),
  'commit-first': (store) => dying(believingItsGroup(store)),
  additive: (store) => dying(addingUp(store)),
  'last-writer-wins': (store) =>
    inTwoSteps(store, {
      between: stopHere,
      written: toldLate(store),
      version: () => String(Date.now()),
    }),
};

/** Announces a write that came late: whether its batch still announces it depends on timing, and readers must know. */
function toldLate(store: Store): (mints: readonly string[]) => Promise<void> {
  const announce = createAnnouncer(store);
  return async (mints) => {
    if (!wasStopped) return;
    await announce(new Map([['policy_totals', new Set(mints)]]));
    process.send?.({ lateWrite: true });
  };
}

await runService('materialise', COMMAND, async ({ config, logger, signal }) => {
  const opened = openKafka(config, logger);
  const kafka: KafkaClient = flaw === 'commit-first' ? committingFirst(opened) : opened;
  const real = await openStore(config, { logger, signal });
  if (real === null) return;
  const store = STORES[flaw](real);
  const prefix = config.kafkaTopicPrefix;
  const { accounts, transactions } = await partitionsOf(kafka, prefix);
  await declarePartitions(store, { accounts, transactions });
  const materialise = createMaterialiser({ store, programId: decodeKey(config.programId) as Uint8Array });
  const group = materialiserGroup(prefix, store.database);
  await createKafkaReader(kafka, { prefix, group, logger }).run(materialise, signal);
  await aborted(signal);
});
