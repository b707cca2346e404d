/** Characters that a terminal would obey, or that reverse the direction of a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const SENTENCE_MAX = 500;

/** A text of a service as it may stand on a terminal, on one line: control and format characters as `\uXXXX`. */
export function shown(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** A sentence of a service, on one line and cut at SENTENCE_MAX characters. */
export function shownSentence(text: string): string {
  return shown(text.length > SENTENCE_MAX ? `${text.slice(0, SENTENCE_MAX)}…` : text);
}

/** Indented JSON that reads back as the same value. */
export function shownJson(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(shown).join('\n');
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
