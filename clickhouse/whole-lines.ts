/**
 * Checks that an answer is whole. A server that fails once it has begun to answer has sent a status of success: the
 * failure stands behind its lines, and some servers write it as a line like the others.
 * @param text a line of names, then one for each row, JSON arrays all of them
 * @throws Error where it breaks off
 */
export function wholeLines(text: string): string {
  const names = arrayOf(text.slice(0, text.indexOf('\n')));
  const last = text.slice(text.lastIndexOf('\n', text.length - 2) + 1);
  if (names === null || !text.endsWith('\n') || arrayOf(last)?.length !== names.length)
    throw new Error(`ClickHouse's answer broke off: ${last.trim().slice(0, 300)}`);
  return text;
}

/**
 * The rows of an answer, one JSON object a line. The client itself leaves out a last line without an end.
 * @throws SyntaxError where the answer breaks off, or a line is no JSON
 */
export function wholeRows<Row>(text: string): Row[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const rest = lines.pop() as string;
  if (rest !== '') throw new SyntaxError(`ClickHouse's answer broke off: ${rest.trim().slice(0, 300)}`);
  return lines.map((line) => JSON.parse(line));
}

function arrayOf(line: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
