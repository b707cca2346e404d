const CREATE = /^CREATE (TABLE|MATERIALIZED VIEW) IF NOT EXISTS (\w+)/;
const ENGINE = /ENGINE = (Replacing)?MergeTree\(?([^)]*)\)?/;
const ORDER = /ORDER BY \(?(\w+)/;

/**
 * The statements that make the same table on a cluster: a replicated local table on every node and a distributed
 * one with the plain name, sharded by the first column of its key so that versions of a row meet on one shard.
 */
export function forCluster(statement: string, cluster: string): string[] {
  const match = CREATE.exec(statement);
  if (match === null) return [statement];
  const [head, kind, name] = match as unknown as [string, string, string];
  const onCluster = `ON CLUSTER '${cluster.replaceAll("'", "\\'")}'`;
  if (kind === 'MATERIALIZED VIEW') {
    const local = statement
      .replace(head, `${head} ${onCluster}`)
      .replace(/ TO (\w+)/, ' TO $1_local')
      .replace(/FROM (\w+)\s*$/, 'FROM $1_local');
    return [local];
  }
  const local = statement
    .replace(head, `CREATE TABLE IF NOT EXISTS ${name}_local ${onCluster}`)
    .replace(ENGINE, (_, replacing: string | undefined, version: string) => {
      const place = `'/clickhouse/tables/{shard}/{database}/${name}', '{replica}'`;
      return `ENGINE = Replicated${replacing ?? ''}MergeTree(${[place, version].filter(Boolean).join(', ')})`;
    });
  const key = ORDER.exec(statement)?.[1] as string;
  const distributed = `CREATE TABLE IF NOT EXISTS ${name} ${onCluster} AS ${name}_local ENGINE = Distributed('${cluster}', currentDatabase(), '${name}_local', cityHash64(${key}))`;
  return [local, distributed];
}
