import { ConfigError } from '../../../runtime/errors.ts';
import { DEVNET_PROGRAM_ID } from '../../../schemas/program/devnet-program.ts';
import type { Store } from '../../client.ts';
import { onClusterClause } from '../../schema/cluster.ts';
import { underMigrationLock } from '../../schema/migration-lock.ts';
import { emptyWhereTableIsMissing } from '../../schema/unknown-table.ts';

/**
 * Whether the database is declared to be of this program; false where no program was declared yet.
 * @throws ConfigError where it is of another: sums without the history of one, or over both together, would look whole.
 */
export async function isOfProgram(store: Store, programId: string): Promise<boolean> {
  const rows = await store
    .query<{ program: string }>('SELECT program FROM indexed_program FINAL')
    .catch(emptyWhereTableIsMissing);
  const other = rows.find(({ program }) => program !== programId);
  if (other === undefined) return rows.length > 0;
  throw ofAnotherProgram(`the database ${store.database}`, other.program, programId);
}

/** The error that ends a process whose database, or log, is of another program than PROGRAM_ID. */
export const ofAnotherProgram = (what: string, other: string, programId: string): ConfigError =>
  new ConfigError(
    `${what} is of the program ${describeProgram(other)}, and PROGRAM_ID is ${describeProgram(programId)}: set PROGRAM_ID to the one that it is of, or give the other an empty database in CLICKHOUSE_URL (a directory in DATA_DIR, where that is not set) and, where KAFKA_BROKERS is set, a log of its own in KAFKA_TOPIC_PREFIX, which npm run migrate makes`,
  );

/**
 * Declares that a database is of this program, before anything else is written there.
 * @throws ConfigError where it is of another.
 */
export async function declareProgram(store: Store, programId: string, cluster: string | null): Promise<void> {
  if (await isOfProgram(store, programId)) return;
  const declare = async () => {
    if (!(await isOfProgram(store, programId)))
      await store.insert('indexed_program', [{ program: programId }]);
  };
  // Of two processes that come first, with a program each, the second finds what the first has declared.
  await (store.exclusive ? declare() : underMigrationLock(store, onClusterClause(cluster), declare));
}

export const describeProgram = (program: string): string =>
  program === DEVNET_PROGRAM_ID ? `${program}, the local chain's, which an unset one means` : program;
