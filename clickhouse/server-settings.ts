import type { ClickHouseSettings } from '@clickhouse/client';
import { WITH_AN_END } from './whole-answers.ts';

/** With other values in the server's profile, half an answer would pass for a whole one. */
const WHOLE_ANSWERS: ClickHouseSettings = {
  // Reaching a limit of the server is an error.
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  timeout_overflow_mode_leaf: 'throw',
  group_by_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  // No limits but those that a question names.
  limit: '0',
  offset: '0',
  // A failure on the way ends the answer, and is not written as a row of it.
  http_write_exception_in_output_format: 0,
  ...WITH_AN_END,
};

/** With other values in the server's profile, a question would have another meaning, or its answer another form. */
const MEANINGS: ClickHouseSettings = {
  // Columns that no row was joined to are zero or empty, not NULL; comparisons count on it.
  join_use_nulls: 0,
  join_default_strictness: 'ALL',
  // Other algorithms cannot do ASOF joins, which find the nearest row.
  join_algorithm: 'parallel_hash',
  // NULL is never IN a list.
  transform_null_in: 0,
  // A sum over no rows is zero, and is a row.
  aggregate_functions_null_for_empty: 0,
  empty_result_for_aggregation_by_empty_set: 0,
  // With `x AS y`, y means x even where a column is named y.
  prefer_column_name_to_alias: 0,
  // FINAL applies only where a question says it.
  final: 0,
  // No answer comes from a cache of the server.
  use_query_cache: 0,
  // Columns of migrations are Nullable only where they say so.
  data_type_default_nullable: 0,
  // The older analyzer finds no columns of some joins.
  enable_analyzer: 1,
  // Integers and decimals come as strings, floats as numbers, tuples by their names.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_named_tuples_as_objects: 1,
  // A row that names an unknown column is an error; a column that it leaves out gets its default.
  input_format_skip_unknown_fields: 0,
  input_format_defaults_for_omitted_fields: 1,
  date_time_input_format: 'best_effort',
  // Without it servers before 26.7 read one in a thousand long floats as another number.
  precise_float_parsing: 1,
};

/**
 * Settings that are sent with every statement. The oldest server with all functions that we use, 24.12, knows each of
 * them: an unknown one is an error.
 */
export const SERVER_SETTINGS: ClickHouseSettings = {
  ...WHOLE_ANSWERS,
  ...MEANINGS,
  max_execution_time: 60,
  // Writers batch their rows themselves; a server that collects inserts would delay each of them.
  async_insert: 0,
  // No block of INSERT … SELECT is dropped for equalling an earlier one. In the newest servers another setting decides,
  // which the oldest does not know: they drop blocks only of what is selected ORDER BY ALL.
  insert_deduplicate: 0,
};

/**
 * Even where no cluster is named there may be several replicas behind the address, as in ClickHouse Cloud, and two
 * questions in a row may go to two of them. With this each replica answers with all that was acknowledged: sums are
 * made of what was just inserted. On tables of one server it has no effect.
 */
export const ONE_ADDRESS_SETTINGS: ClickHouseSettings = { select_sequential_consistency: '1' };

export const CLUSTER_SETTINGS: ClickHouseSettings = {
  // An insert has reached its shards when it is acknowledged.
  distributed_foreground_insert: 1,
  // Subqueries over distributed tables see every shard.
  distributed_product_mode: 'global',
  // An answer that lacks a shard is an error.
  skip_unavailable_shards: 0,
  // INSERT … SELECT reads all shards at once. From 25.7 on each shard would otherwise read its own rows alone, and
  // would not find the distributed tables that subqueries name.
  parallel_distributed_insert_select: '0',
  // A recompute reads from the replica that the facts were written to.
  load_balancing: 'in_order',
};
