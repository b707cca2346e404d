/** Text that others wrote: invisible characters, and those that reverse or hide others, are shown by their names. */

export interface TextPart {
  text: string;
  /** Whether the text is names of characters, such as U+202E, in place of the characters. */
  hidden: boolean;
}

/**
 * Controls, format characters (bidi, joiners, tags, soft hyphens), line and paragraph separators, private and lone
 * surrogates. A line feed is text.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u115f\u1160\u3164\uffa0]|\u034f/u;
/** More than three combining marks on one character. */
const PILED = /(\p{M}{3})\p{M}+/gu;

const nameOf = (character: string) =>
  `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;

export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  for (const character of text.replaceAll(PILED, '$1')) {
    const hidden = character !== '\n' && HIDDEN.test(character);
    const last = parts.at(-1);
    const shown = hidden ? nameOf(character) : character;
    // Neighbours of one kind are one part, however many they are: each part is a node of the page.
    if (last?.hidden === hidden) last.text += hidden ? ` ${shown}` : shown;
    else parts.push({ text: shown, hidden });
  }
  return parts;
}

/** As much of a name as a line of a list may show: a mint's name may have thousands of characters. */
export function shortened(text: string, most = 80): string {
  const characters = [...text.slice(0, 2 * most + 1)];
  return characters.length <= most ? text : `${characters.slice(0, most).join('')}…`;
}

/** The visible text as one line, for titles and labels. */
export function plainText(text: string): string {
  return visibleParts(text)
    .map((part) => (part.hidden ? `‹${part.text}›` : part.text.replaceAll('\n', ' ')))
    .join('');
}

/** One or two letters to stand for a token whose picture is not shown. */
export function lettersOf(symbol: string | null, mint: string): string {
  const letters = [...shortened(symbol ?? '')].filter((character) => /[\p{L}\p{N}]/u.test(character));
  return (letters.length > 0 ? letters : [...mint]).slice(0, 2).join('').toUpperCase();
}
