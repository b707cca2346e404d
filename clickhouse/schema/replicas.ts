import type { Store } from '../client.ts';

/** The engines of a database that has tables, and of its tables. */
export const ENGINES = `SELECT DISTINCT arrayJoin([t.engine, d.engine]) AS engine
FROM system.tables AS t JOIN system.databases AS d ON d.name = t.database WHERE t.database = {database:String}`;

const SHARED =
  'its tables are shared, as in ClickHouse Cloud: each question waits for what was written. It was never tried there: docs/operations.md, "ClickHouse Cloud"';
const REPLICATED =
  'it is replicated and CLICKHOUSE_CLUSTER is not set: with several replicas behind its address sums stay too low. Name one replica, or the cluster: docs/operations.md, "Replicas of ClickHouse"';

/** Advice on a database that is opened without a cluster, by its engines; null where it is on a single server. */
export function adviceOn(engines: readonly string[]): string | null {
  const some = (kind: string) => engines.some((engine) => engine.startsWith(kind));
  // In ClickHouse Cloud the database itself may have either kind of engine.
  if (some('Shared')) return SHARED;
  return some('Replicated') ? REPLICATED : null;
}

/** The same for an open database. */
export async function replicaAdvice(store: Store): Promise<string | null> {
  const rows = await store.query<{ engine: string }>(ENGINES, { database: store.database });
  return adviceOn(rows.map(({ engine }) => engine));
}
