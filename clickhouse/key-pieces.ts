/** Keys travel as a bound parameter, of which a server takes 131,072 characters, encoded: so many of them with one question. */
const KEYS_AT_ONCE = 1_000;

/** The same question for pieces of the keys, one after the other; for none of them where there are none. */
export async function inPieces<Answer>(
  keys: readonly string[],
  ask: (piece: readonly string[]) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE)
    answers.push(await ask(keys.slice(from, from + KEYS_AT_ONCE)));
  return answers;
}
