import type { ClickHouseSettings } from '@clickhouse/client';
import { BrokenAnswerError } from '../runtime/errors.ts';

/**
 * A server that fails once it has begun to answer has sent a status of success, and a proxy that speaks HTTP/1.0 to it,
 * as nginx does unless it is told otherwise, takes a broken connection for the answer's end. So answers are asked for
 * in forms whose end can be seen: cut off anywhere, between two rows too, they are not whole.
 */
export const WITH_AN_END: ClickHouseSettings = {
  // JSONEachRow becomes one JSON array.
  output_format_json_array_of_rows: 1,
};

/** What `wholeLines` reads: a line of names, one for each row, and END_OF_LINES; JSON arrays all of them. */
export const LINES_FORMAT = 'CustomSeparatedWithNames';
const END_OF_LINES = '[]\n';
export const LINES_WITH_AN_END: ClickHouseSettings = {
  format_custom_escaping_rule: 'JSON',
  format_custom_result_before_delimiter: '',
  format_custom_row_before_delimiter: '[',
  format_custom_field_delimiter: ', ',
  format_custom_row_after_delimiter: ']\n',
  format_custom_row_between_delimiter: '',
  format_custom_result_after_delimiter: END_OF_LINES,
};

const LAST_LINE = `]\n${END_OF_LINES}`;

/** The lines of names and of rows. @throws BrokenAnswerError for half an answer, or more than one */
export function wholeLines(text: string): string {
  const end = text.indexOf(LAST_LINE);
  if (end < 0 || end + LAST_LINE.length < text.length) throw brokenOff(text);
  return text.slice(0, -END_OF_LINES.length);
}

/** The rows of an answer, JSON objects in one array. @throws BrokenAnswerError for half an answer */
export function wholeRows<Row>(text: string): Row[] {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {}
  // A single row that is no list comes from a server that was not told the settings.
  if (!Array.isArray(rows)) throw brokenOff(text);
  return rows;
}

/**
 * Every answer of ClickHouse has headers of its own. A page that something in between sends has none, and with a status
 * of success it would pass for "done".
 * @throws BrokenAnswerError
 */
export function mustBeOfClickHouse(headers: Readonly<Record<string, unknown>>): void {
  if (!Object.keys(headers).some((name) => name.toLowerCase().startsWith('x-clickhouse-')))
    throw new BrokenAnswerError('what answered is not ClickHouse: its answer has no X-ClickHouse header');
}

function brokenOff(text: string): BrokenAnswerError {
  const [last = ''] = text.trimEnd().split('\n').slice(-1);
  return new BrokenAnswerError(`ClickHouse's answer broke off: ${last.trim().slice(0, 300)}`);
}
