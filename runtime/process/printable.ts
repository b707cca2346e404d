/** What a terminal would obey, or what turns the order of a line around. A line feed is text. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text that others may have had a part in, as it may stand on a terminal: such characters as `\uXXXX`, as JSON has them. */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
