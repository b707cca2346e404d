const INSERT = /^INSERT INTO \w+\s+SELECT\b/;
const COLUMN = /^ALTER TABLE (\w+)(?= ADD COLUMN IF NOT EXISTS )/;
const TABLE = /^CREATE TABLE IF NOT EXISTS (\w+)/;
const VIEW = /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+)/;
const ENGINE = /ENGINE = (Replacing)?MergeTree(?:\(([^()]*)\))?/;
const ORDER = /ORDER BY \(?(\w+)/;

/** The clause that makes a statement run on every node; empty without a cluster. */
export function onClusterClause(cluster: string | null): string {
  return cluster === null ? '' : `ON CLUSTER '${cluster.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/**
 * The statements that make the same table on a cluster: a replicated local table on every node and a distributed
 * one with the plain name, sharded by the first column of its key so that versions of a row meet on one shard.
 * A column is added to both. A view fills its table on the shard where the row came in. Rows made from rows go through the distributed tables.
 * @throws Error for a statement that has no cluster form.
 */
export function forCluster(statement: string, cluster: string): string[] {
  if (INSERT.test(statement)) return [statement];
  const onCluster = onClusterClause(cluster);
  const altered = COLUMN.exec(statement);
  if (altered !== null) {
    const [head, name] = altered as unknown as [string, string];
    const rest = statement.slice(head.length);
    return [`${name}_local`, name].map((each) => `ALTER TABLE ${each} ${onCluster}${rest}`);
  }
  const view = VIEW.exec(statement);
  if (view !== null) {
    const [head, name, target] = view as unknown as [string, string, string];
    const body = statement.slice(head.length).replace(/FROM (\w+)\s*$/, 'FROM $1_local');
    return [`CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} ${onCluster} TO ${target}_local${body}`];
  }
  const table = TABLE.exec(statement);
  const key = ORDER.exec(statement)?.[1];
  if (table === null || key === undefined || !ENGINE.test(statement)) {
    throw new Error(`no cluster form of: ${statement.slice(0, 80)}`);
  }
  const [head, name] = table as unknown as [string, string];
  const body = statement.slice(head.length).replace(ENGINE, (_, replacing = '', version = '') => {
    const place = `'/clickhouse/tables/{shard}/{database}/${name}', '{replica}'`;
    return `ENGINE = Replicated${replacing}MergeTree(${version === '' ? place : `${place}, ${version}`})`;
  });
  return [
    `CREATE TABLE IF NOT EXISTS ${name}_local ${onCluster}${body}`,
    `CREATE TABLE IF NOT EXISTS ${name} ${onCluster} AS ${name}_local
ENGINE = Distributed('${cluster.replaceAll("'", "\\'")}', currentDatabase(), '${name}_local', cityHash64(${key}))`,
  ];
}
