import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets, reaches } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { resolvedReplies, resolveLetters } from '../../../clickhouse/queries/progress/dead-letters.ts';
import { declareProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import { declarePartitions } from '../../../clickhouse/queries/progress/log-partitions.ts';
import { migrate, schemaMustBeCurrent, schemaMustBeKnown } from '../../../clickhouse/schema/migrate.ts';
import { whileSchemaIsKnown } from '../../../clickhouse/schema/while-schema-is-known.ts';
import {
  abandonReplay,
  beginReplay,
  finishReplay,
  isGivenUp,
  unfinishedReplay,
} from '../../../clickhouse/serving/replays.ts';
import { readServing, switchServing } from '../../../clickhouse/serving/serving.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { createKafkaReader } from '../../log/kafka/reader.ts';
import { materialiserGroup, partitionsOf } from '../../log/kafka/topics.ts';
import { createMaterialiser } from '../../materialise/materialiser.ts';
import { committedOffsets, untilCaughtUp } from './catch-up.ts';
import type { ReplayContext } from './context.ts';
import { formerHint } from './former.ts';
import { assertGapsCovered, readKnownGaps } from './known-gaps.ts';
import { rowCode } from './row-code.ts';
import { assertLogIsWhole } from './whole-log.ts';

const LOOK_EVERY_MS = 200;

/**
 * Reads the whole log into a fresh database, follows live until it is level with the serving one, switches readers
 * over, and goes on until a materialiser has taken over. The next run goes on with one that was killed.
 * @param fresh gives an unfinished database up and begins another.
 * @throws ConfigError where the log is not whole, another version of the code has begun or came meanwhile, another run gave
 * this one up, or the signal was given before the switch.
 */
export async function replayWhole(context: ReplayContext, fresh: boolean): Promise<void> {
  const { home, kafka, prefix, signal, say } = context;
  await schemaMustBeCurrent(home);
  const serving = await readServing(home);
  const former = serving.database === home.database ? home : await context.openDatabase(serving.database);
  try {
    await assertLogIsWhole(kafka, prefix, await appliedOffsets(former));
    const database = await databaseToFill(context, former, fresh);
    if (database === null) return;
    const store = await context.openDatabase(database);
    try {
      await prepare(context, store);
      const stop = new AbortController();
      const reading = fill(context, store, stop.signal);
      // An error that ends the reading early, such as partitions that were added to the log, ends the whole replay.
      const failed = new AbortController();
      reading.catch((error: unknown) => failed.abort(error));
      const whileRead = { ...context, signal: AbortSignal.any([signal, failed.signal]) };
      const mustBeOurs = () => mustBeOfThisVersion(home, former, database);
      try {
        await whileSchemaIsKnown(mustBeOurs, whileRead, async (known) => {
          await untilLevel({ ...context, signal: known }, former, store, failed.signal);
          const check = async () => {
            await mustBeOurs();
            await mustStand(home, database);
          };
          await switchServing(home, { from: former.database, to: database, check }, context.cluster);
          await finishReplay(home, database);
        });
        say(`${database} serves now. ${former.database} is as it was`);
        await whileSchemaIsKnown(
          () => schemaMustBeKnown(store),
          whileRead,
          (known) => untilTakenOver({ ...whileRead, signal: known }, database),
        );
        say(await formerHint(whileRead, former.database));
      } finally {
        stop.abort();
        await reading;
      }
    } finally {
      await store.close();
    }
  } finally {
    if (former !== home) await former.close();
  }
}

/**
 * Resolves once readers may go over.
 * @param failed aborted with the error that ended the reading early.
 * @throws ConfigError where the signal was given first, or the log does not hold all of history; what ended the reading.
 */
async function untilLevel(
  context: ReplayContext,
  former: Store,
  store: Store,
  failed: AbortSignal,
): Promise<void> {
  // Before the end of the log is looked up: the log has a record by then of every gap that is known here.
  const known = await readKnownGaps(former);
  await untilCaughtUp(context, former, store);
  failed.throwIfAborted();
  context.progress.end();
  if (context.signal.aborted)
    throw new ConfigError(
      `stopped before the switch: ${former.database} serves on. npm run replay goes on with ${store.database}.`,
    );
  await assertGapsCovered(context, former, known, store);
  await resolveLetters(store, await resolvedReplies(former));
}

/**
 * The name of the database to fill; null where an earlier run was ended after its switch and all is done.
 * @throws ConfigError where an unfinished one was begun by another version of the code.
 */
async function databaseToFill(
  { home, kafka, prefix, say }: ReplayContext,
  former: Store,
  fresh: boolean,
): Promise<string | null> {
  const unfinished = await unfinishedReplay(home);
  const begun = unfinished?.database ?? null;
  const code = rowCode();
  if (begun === former.database) {
    await finishReplay(home, begun);
    say(`${begun} serves already: an earlier run was ended after its switch`);
    return null;
  }
  if (begun !== null && !fresh) {
    if (unfinished?.code !== code)
      throw new ConfigError(
        `${begun} was begun by another version of this code, and what it has of the log is as that one read it. npm run replay -- --fresh begins another.`,
      );
    say(`going on with ${begun}, which an earlier run began to fill`);
    return begun;
  }
  if (begun !== null) {
    await abandonReplay(home, begun);
    say(
      `${begun} is given up: once no run of before fills it any more, DROP DATABASE ${begun} frees its space`,
    );
  }
  const database = await beginReplay(home, code);
  // The group may be left from a database that had this name before the server was made anew.
  await kafka.deleteGroup(materialiserGroup(prefix, database)).catch(() => {});
  say(`filling ${database}`);
  return database;
}

/**
 * @throws ConfigError where the group is ahead of the database: what is between would never be read; and where an earlier
 * run began to fill it with another program.
 */
async function prepare(context: ReplayContext, store: Store): Promise<void> {
  const { kafka, prefix, cluster, programId } = context;
  await migrate(store, cluster);
  await declareProgram(store, encodeBase58(programId), cluster);
  const applied = await appliedOffsets(store);
  if (!reaches(applied, await committedOffsets(context, store.database))) {
    throw new ConfigError(
      `${store.database} has less than its group of consumers has committed, so some of the log would be left out. npm run replay -- --fresh begins another.`,
    );
  }
  const { accounts, transactions } = await partitionsOf(kafka, prefix);
  await declarePartitions(store, { accounts, transactions });
}

/** Fills the database with the same code as live, in the group that the live materialisers join after the switch. */
async function fill(
  { kafka, prefix, programId, logger }: ReplayContext,
  store: Store,
  signal: AbortSignal,
): Promise<void> {
  const group = materialiserGroup(prefix, store.database);
  const { accounts, transactions } = await partitionsOf(kafka, prefix);
  const reader = createKafkaReader(kafka, { prefix, group, logger, declared: { accounts, transactions } });
  return reader.run(createMaterialiser({ store, programId }), signal);
}

/**
 * @throws ConfigError where a newer version of the code came meanwhile, which may read more in the log than was filled.
 */
async function mustBeOfThisVersion(home: Store, former: Store, filled: string): Promise<void> {
  for (const store of new Set([home, former])) {
    try {
      await schemaMustBeKnown(store);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(
        `a newer version of this code has brought ${store.database} further, and ${filled} has the log as this one reads it: nothing was switched. npm run replay -- --fresh of the newer one begins another.`,
      );
    }
  }
}

/** @throws ConfigError where another run has given the database up: it may be dropped even while readers use it. */
async function mustStand(home: Store, database: string): Promise<void> {
  if (!(await isGivenUp(home, database))) return;
  throw new ConfigError(`${database} was given up meanwhile, by a run with --fresh: nothing was switched.`);
}

/** Resolves once a second process is in the group, or the signal was given. */
async function untilTakenOver(
  { kafka, prefix, signal, say }: ReplayContext,
  database: string,
): Promise<void> {
  const group = materialiserGroup(prefix, database);
  say(
    'going on until npm run materialise has taken over, or an npm start on these servers, which ends now and goes over once it is started again. Ctrl-C ends this sooner: nothing is lost, and nothing new is read before one of them runs',
  );
  while (!signal.aborted) {
    const members = await kafka.groupMembers(group).catch(() => 0);
    if (members > 1) return say('materialise has taken over');
    await pause(LOOK_EVERY_MS, signal);
  }
}
