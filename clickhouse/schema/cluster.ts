const INSERT = /^INSERT INTO \w+\s+SELECT\b/;
const TABLE = /^CREATE TABLE IF NOT EXISTS (\w+)/;
const ADDED = /^ALTER TABLE (\w+)(?=\s+ADD COLUMN IF NOT EXISTS\b)/;
const INDEXED = /^ALTER TABLE (\w+)(?=\s+(?:ADD INDEX IF NOT EXISTS|MATERIALIZE INDEX)\b)/;
const VIEW = /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+)/;
const DROPPED = /^DROP VIEW IF EXISTS (\w+)$/;
const ENGINE = /ENGINE = (Replacing|Summing)?MergeTree(?:\(([^()]*)\))?/;
const ORDER = /ORDER BY \(?(\w+)/;

/** Whether a statement is an INSERT … SELECT, which makes rows from rows. */
export const isCopy = (statement: string): boolean => INSERT.test(statement);

/** The clause that makes a statement run on every node; empty without a cluster. */
export function onClusterClause(cluster: string | null): string {
  return cluster === null ? '' : `ON CLUSTER '${cluster.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/**
 * The statements that make the same table on a cluster: a replicated local table on every node and a distributed
 * one with the plain name, sharded by the first column of its key so that versions of a row meet on one shard.
 * A view fills its table on the shard where the row came in, and is dropped on every node. An INSERT … SELECT goes
 * through the distributed tables. A column is added to the local tables first: a distributed one that has it asks them
 * for it. An index is added to the local tables alone.
 * @throws Error for a statement that has no cluster form.
 */
export function forCluster(statement: string, cluster: string): string[] {
  if (isCopy(statement)) return [statement];
  const onCluster = onClusterClause(cluster);
  const view = VIEW.exec(statement);
  if (view !== null) {
    const [head, name, target] = view as unknown as [string, string, string];
    const body = statement.slice(head.length).replace(/FROM (\w+)\s*$/, 'FROM $1_local');
    return [`CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} ${onCluster} TO ${target}_local${body}`];
  }
  if (DROPPED.test(statement)) return [`${statement} ${onCluster}`];
  const added = ADDED.exec(statement);
  if (added !== null) {
    const [head, name] = added as unknown as [string, string];
    const body = statement.slice(head.length);
    return [`${name}_local`, name].map((table) => `ALTER TABLE ${table} ${onCluster}${body}`);
  }
  const indexed = INDEXED.exec(statement);
  if (indexed !== null) {
    const [head, name] = indexed as unknown as [string, string];
    return [`ALTER TABLE ${name}_local ${onCluster}${statement.slice(head.length)}`];
  }
  const table = TABLE.exec(statement);
  const key = ORDER.exec(statement)?.[1];
  if (table === null || key === undefined || !ENGINE.test(statement)) {
    throw new Error(`no cluster form of: ${statement.slice(0, 80)}`);
  }
  const [head, name] = table as unknown as [string, string];
  const body = statement.slice(head.length).replace(ENGINE, (_, kind = '', version = '') => {
    const place = `'/clickhouse/tables/{shard}/{database}/${name}', '{replica}'`;
    return `ENGINE = Replicated${kind}MergeTree(${version === '' ? place : `${place}, ${version}`})`;
  });
  return [
    `CREATE TABLE IF NOT EXISTS ${name}_local ${onCluster}${body}`,
    `CREATE TABLE IF NOT EXISTS ${name} ${onCluster} AS ${name}_local
ENGINE = Distributed('${cluster.replaceAll("'", "\\'")}', currentDatabase(), '${name}_local', cityHash64(${key}))`,
  ];
}
