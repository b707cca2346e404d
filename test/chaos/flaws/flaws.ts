import type { Params, Store } from '../../../clickhouse/client.ts';
import type { EventRow } from '../../../clickhouse/tables.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { POLICY_COLUMNS, selected } from '../../../ingest/materialise/rollups/summed-columns.ts';

/** Flaw: commits a batch's offset before its rows are written. */
export const committingFirst = (kafka: KafkaClient): KafkaClient => ({
  ...kafka,
  consume: (options) =>
    kafka.consume({
      ...options,
      onBatch: async (batch) => {
        const last = batch.messages.at(-1);
        if (last !== undefined) await batch.commit(last.offset + 1n);
        return options.onBatch(batch);
      },
    }),
});

/** Flaw: goes on at its group's committed offset, whatever the database has applied. */
export const believingItsGroup = (store: Store): Store => ({
  ...store,
  query: async <Row>(sql: string, params?: Params) => {
    const rows = await store.query<Row>(sql, params);
    return sql.includes('FROM applied') ? rows.map((row) => ({ ...row, log_offset: BEYOND_ANY_LOG })) : rows;
  },
});

const BEYOND_ANY_LOG = '9223372036854775807';
const INTO_TOTALS = /INSERT INTO policy_totals \([^)]*\)/;
const isTotals = (sql: string): boolean => INTO_TOTALS.test(sql);

/** Flaw: adds each batch's events to the stored sums instead of summing all events anew. For one partition. */
export function addingUp(store: Store): Store {
  let waiting: EventRow[] = [];
  const add = async (params: Params) => {
    const signatures = waiting.map(({ signature }) => signature);
    waiting = [];
    await store.insert('policy_totals', await added(store, params, signatures));
  };
  return {
    ...store,
    insert: async (table, rows) => {
      if (table === 'policy_totals') {
        const totals = rows as Totals[];
        const mints = totals.map(({ mint }) => String(mint));
        return add({ mints, offsets: [String(totals[0]?.log_offset ?? 0)] });
      }
      await store.insert(table, rows);
      if (table === 'events') waiting.push(...(rows as EventRow[]));
    },
    command: (sql, params = {}) => (isTotals(sql) ? add(params) : store.command(sql, params)),
  };
}

type Totals = Record<string, string | number | null>;

const OF_BATCH = `SELECT e.mint AS mint, 0 AS log_partition, {offsets:Array(UInt64)}[1] AS log_offset,
  ${selected(POLICY_COLUMNS, 'ofFacts')}
FROM events AS e FINAL
WHERE e.mint IN {mints:Array(String)} AND e.signature IN {signatures:Array(String)}
GROUP BY mint`;

async function added(store: Store, params: Params, signatures: readonly string[]) {
  const fresh = await store.query<Totals>(OF_BATCH, { ...params, signatures });
  const held = await store.query<Totals>('SELECT * FROM policy_totals FINAL');
  return fresh.map((row) => {
    const before = held.find(({ mint }) => mint === row.mint);
    return before === undefined ? row : sumOf(before, row);
  });
}

const later = (a: string | number | null, b: string | number | null) => {
  if (a === null || b === null) return a ?? b;
  return BigInt(a) > BigInt(b) ? a : b;
};

function sumOf(before: Totals, now: Totals): Totals {
  const columns = Object.entries(now).map(([name, value]) => {
    if (['mint', 'log_partition', 'log_offset'].includes(name)) return [name, value];
    if (name.startsWith('last_')) return [name, later(before[name] ?? null, value)];
    return [name, (BigInt(before[name] ?? 0) + BigInt(value ?? 0)).toString()];
  });
  return Object.fromEntries(columns) as Totals;
}

/** Computes sums in two statements, so that a process can be stopped between reading events and writing sums. */
export function inTwoSteps(
  store: Store,
  options: {
    /** The `log_offset` of the written rows, in place of the product's. */
    version?(): string;
    between(): Promise<void>;
    written(mints: readonly string[]): Promise<void>;
  },
): Store {
  const write = async (rows: readonly object[]) => {
    await options.between();
    const version = options.version?.();
    await store.insert(
      'policy_totals',
      rows.map((row) => ({ ...row, ...(version === undefined ? {} : { log_offset: version }) })),
    );
    await options.written((rows as Totals[]).map(({ mint }) => String(mint)));
  };
  return {
    ...store,
    insert: (table, rows) => (table === 'policy_totals' ? write(rows) : store.insert(table, rows)),
    command: async (sql: string, params?: Params) => {
      if (!isTotals(sql)) return store.command(sql, params);
      await write(await store.query<Totals>(sql.replace(INTO_TOTALS, ''), params));
    },
  };
}
