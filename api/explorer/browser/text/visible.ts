/** Text that others wrote. What would not be seen, or would turn or hide what stands beside it, is shown by its name. */

export interface TextPart {
  text: string;
  /** A character by its name, as U+202E, in place of itself. */
  hidden: boolean;
}

/**
 * Controls, format characters (bidi, joiners, tags, soft hyphens), line and paragraph separators, private and lone
 * surrogates. A line feed is text.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u115f\u1160\u3164\uffa0]|\u034f/u;
/** Marks that pile up on one character. */
const PILED = /(\p{M}{3})\p{M}+/gu;

const nameOf = (character: string) =>
  `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;

export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  for (const character of text.replaceAll(PILED, '$1')) {
    const hidden = character !== '\n' && HIDDEN.test(character);
    const last = parts.at(-1);
    if (hidden) parts.push({ text: nameOf(character), hidden });
    else if (last !== undefined && !last.hidden) last.text += character;
    else parts.push({ text: character, hidden });
  }
  return parts;
}

/** The same as one line, for titles and labels. */
export function plainText(text: string): string {
  return visibleParts(text)
    .map((part) => (part.hidden ? `‹${part.text}›` : part.text.replaceAll('\n', ' ')))
    .join('');
}

/** One or two letters to stand for a token whose picture is not shown. */
export function lettersOf(symbol: string | null, mint: string): string {
  const letters = [...(symbol ?? '')].filter((character) => /[\p{L}\p{N}]/u.test(character));
  return (letters.length > 0 ? letters : [...mint]).slice(0, 2).join('').toUpperCase();
}
