import type { Store } from '../../../clickhouse/client.ts';
import { appliedPlaces } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { declareProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import { partitionsMustBeAsDeclared } from '../../../clickhouse/queries/progress/log-partitions.ts';
import { appliedMarkers } from '../../../clickhouse/queries/progress/stream-store.ts';
import { schemaMustBeCurrent, schemaMustBeKnown } from '../../../clickhouse/schema/migrate.ts';
import { whileSchemaIsKnown } from '../../../clickhouse/schema/while-schema-is-known.ts';
import { readServing } from '../../../clickhouse/serving/serving.ts';
import type { FlagValues } from '../../../runtime/config/flags.ts';
import { ConfigError, RetryableError } from '../../../runtime/errors.ts';
import { notReached } from '../../../runtime/process/not-reached.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { assertLogReachesApplied } from '../../log/kafka/log-identity.ts';
import { assertLogOfProgram } from '../../log/kafka/position.ts';
import { partitionsOf } from '../../log/kafka/topics.ts';
import type { ReplayContext } from './context.ts';
import { replayDeadLetters } from './dead-letters.ts';
import { parseFrom, replayFrom } from './from.ts';
import { replayWhole } from './full.ts';

export type Replay = (context: ReplayContext) => Promise<void>;

/** The replay that the flags ask for. @throws ConfigError where they contradict each other or one is malformed */
export function replayOf(flags: FlagValues): Replay {
  const given = ['from', 'dead-letters', 'fresh'].filter((name) => flags[name] !== undefined);
  if (given.length > 1)
    throw new ConfigError(`--${given.join(' and --')} do not go together: npm run replay -- --help`);
  if (typeof flags.from === 'string') {
    const from = parseFrom(flags.from);
    return intoServing((context, store) => replayFrom(context, store, from));
  }
  if (flags['dead-letters'] === true) return intoServing(replayDeadLetters);
  return current((context) => replayWhole(context, flags.fresh === true));
}

/**
 * Checks first what every replay needs. What npm run migrate has not made yet is told by a sentence, not a stack trace.
 * A log to which partitions were added fills no other database either: its markers are not in all of them.
 */
function current(replay: Replay): Replay {
  return async (context) => {
    const { cluster, programId } = context;
    const counts = await countsOf(context);
    await onServing(context, async (store) => {
      await partitionsMustBeAsDeclared(store, counts);
      await declareProgram(store, encodeBase58(programId), cluster);
      await assertLogOfProgram(context.kafka, context.prefix, () => appliedMarkers(store));
    });
    await replay(context);
  };
}

/** Recomputes are asked for through the log: if it has lost its end, their offsets would be applied already. */
function intoServing(replay: (context: ReplayContext, store: Store) => Promise<void>): Replay {
  return current((context) =>
    onServing(context, async (store) => {
      await assertLogReachesApplied(
        context.kafka,
        context.prefix,
        store.database,
        await appliedPlaces(store),
      );
      await whileSchemaIsKnown(
        () => schemaMustBeKnown(store),
        context,
        (signal) => replay({ ...context, signal }, store),
      );
    }),
  );
}

async function countsOf({ home, kafka, prefix }: ReplayContext): ReturnType<typeof partitionsOf> {
  try {
    await schemaMustBeCurrent(home);
    return await partitionsOf(kafka, prefix).catch(notReached('KAFKA_BROKERS'));
  } catch (error) {
    throw error instanceof RetryableError ? new ConfigError(error.message) : error;
  }
}

async function onServing(context: ReplayContext, work: (store: Store) => Promise<void>): Promise<void> {
  const { home } = context;
  const { database } = await readServing(home);
  const store = database === home.database ? home : await context.openDatabase(database);
  try {
    await work(store);
  } finally {
    if (store !== home) await store.close();
  }
}
