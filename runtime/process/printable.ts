/** Characters that a terminal would obey, or that reverse the order of a line. A line feed is text. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text that may come from outside, made safe for a terminal: such characters become `\uXXXX`, as in JSON. */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
