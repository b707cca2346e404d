import type { ClickHouseSettings } from '@clickhouse/client';

/** A profile of the server's that has it otherwise would have half an answer given for a whole one. */
const WHOLE_ANSWERS: ClickHouseSettings = {
  // A limit of the server's that is met is an error.
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
  // Beside the limits that a question names.
  limit: '0',
  offset: '0',
  // What fails on the way ends the answer, and is no row of it.
  http_write_exception_in_output_format: 0,
};

/** … and the same question another meaning, or its answer another form. */
const MEANINGS: ClickHouseSettings = {
  // What no row was joined to is zero or empty; comparisons count on it.
  join_use_nulls: 0,
  join_default_strictness: 'ALL',
  // Others do not find the nearest row.
  join_algorithm: 'parallel_hash',
  // NULL is in no list.
  transform_null_in: 0,
  // A sum of nothing is zero, in a row.
  aggregate_functions_null_for_empty: 0,
  empty_result_for_aggregation_by_empty_set: 0,
  // `x AS y` is what y means, also where a column has that name.
  prefer_column_name_to_alias: 0,
  // FINAL stands where it is meant.
  final: 0,
  // An answer is none of a minute ago.
  use_query_cache: 0,
  // Columns of migrations are as they say.
  data_type_default_nullable: 0,
  // Integers and decimals come as strings, floats as numbers, tuples by their names.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_named_tuples_as_objects: 1,
  // A row names no column that is not there; what it leaves out has the column's default.
  input_format_skip_unknown_fields: 0,
  input_format_defaults_for_omitted_fields: 1,
  date_time_input_format: 'best_effort',
  // Servers of before 26.7 would read every thousandth long float as another.
  precise_float_parsing: 1,
};

/**
 * What a server is asked for with every statement. Each is known to the oldest that has all the functions of ours, 24.12:
 * one that it does not know is an error.
 */
export const SERVER_SETTINGS: ClickHouseSettings = {
  ...WHOLE_ANSWERS,
  ...MEANINGS,
  max_execution_time: 60,
  // Writers put their rows together themselves; a server that collects inserts lets each wait first.
  async_insert: 0,
  // Of rows made from rows none is left out because an earlier block was the same. Of the newest
  // servers another setting decides, which the oldest does not know: they leave out what is selected ORDER BY ALL alone.
  insert_deduplicate: 0,
};

/**
 * Where no cluster is named there may be several replicas behind the address all the same, as in ClickHouse Cloud, and two
 * questions in a row go to two of them. What was acknowledged is in the answer of each: sums are made of what was just
 * inserted. On tables of one server it says nothing.
 */
export const ONE_ADDRESS_SETTINGS: ClickHouseSettings = { select_sequential_consistency: '1' };

export const CLUSTER_SETTINGS: ClickHouseSettings = {
  // An insert has reached its shards when it is acknowledged.
  distributed_foreground_insert: 1,
  // Subqueries over distributed tables see every shard.
  distributed_product_mode: 'global',
  // An answer without a shard is none.
  skip_unavailable_shards: 0,
  // Rows made from rows are made of all shards' at once. From 25.7 on each shard makes them of its own alone otherwise, and
  // knows the distributed tables of subqueries by no name.
  parallel_distributed_insert_select: '0',
  // A recompute reads from the replica that the facts were written to.
  load_balancing: 'in_order',
};
