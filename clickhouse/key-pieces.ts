import { chunks } from '../runtime/chunks.ts';
import type { Params } from './client.ts';

/** Keys in one question: they travel as a bound parameter, of which a server takes 131,072 characters, encoded. */
const KEYS_AT_ONCE = 1_000;

/** Asks the same question for pieces of the keys, one after the other; not at all where there are no keys. */
export async function inPieces<Answer>(
  keys: readonly string[],
  ask: (piece: readonly string[]) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE)
    answers.push(await ask(keys.slice(from, from + KEYS_AT_ONCE)));
  return answers;
}

const LIST = /\{(\w+):(Array\(\w+\))\}/g;

/**
 * A statement that needs its lists whole, and its parameters: a list over KEYS_AT_ONCE is sent in pieces that the
 * statement concatenates. The URL that carries all of them is a MB at most: some 6,000 mints with the longest of rates.
 */
export function withLongLists(sql: string, params: Params): [sql: string, params: Params] {
  const sent: Params = { ...params };
  const whole = sql.replace(LIST, (placeholder, name: string, type: string) => {
    const list = params[name];
    if (!Array.isArray(list) || list.length <= KEYS_AT_ONCE) return placeholder;
    delete sent[name];
    const pieces = chunks(list, KEYS_AT_ONCE).map((piece, at) => {
      sent[`${name}_${at}`] = piece;
      return `{${name}_${at}:${type}}`;
    });
    return `arrayConcat(${pieces.join(', ')})`;
  });
  return [whole, sent];
}
