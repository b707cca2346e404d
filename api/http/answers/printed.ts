import { tagOf } from './tagged-bytes.ts';

const LIST_END = '\n  ]\n}\n';
const [BEFORE, BEHIND] = ['{\n  "": [\n'.length, '\n  ]\n}'.length];

/** An item of a list that stands in an answer's first level, as every answer is printed. */
export const printedItem = (item: unknown): string =>
  JSON.stringify({ '': [item] }, null, 2).slice(BEFORE, -BEHIND);

const PARTS = Symbol('parts');

/** What is sent as it is printed already. */
export interface Printed {
  [PARTS]: PrintedParts;
}

export interface PrintedParts {
  /** One behind the other, at least one. */
  texts: readonly string[];
  /** The same only where the texts are. */
  tag: string;
}

/** Null for any other body. */
export function printedParts(body: unknown): PrintedParts | null {
  const isPrinted = typeof body === 'object' && body !== null && PARTS in body;
  return isPrinted ? (body as Printed)[PARTS] : null;
}

/** Items of a list, one after the other: many of them are put together for each answer. */
export interface PrintedItems {
  /** Its text in two parts, of which the first is short. @param tag a line, the same only where its text is */
  add(begin: string, rest: string, tag: string): void;
}

/**
 * An answer whose last field is a list that is printed already, each item as by `printedItem`. @param head its other
 * fields, at least one; they say of an item what its tag does not
 */
export function printedAnswer(head: object, list: string, addTo: (items: PrintedItems) => void): Printed {
  const before = printedHead(head, list);
  const texts = [before];
  let tags = '';
  addTo({
    add: (begin, rest, tag) => {
      // In one piece, since to write a text costs more than its few characters.
      texts.push((texts.length === 1 ? '[\n' : ',\n') + begin, rest);
      tags += `\n${tag}`;
    },
  });
  texts.push(texts.length === 1 ? printedList('') : LIST_END);
  return { [PARTS]: { texts, tag: tagOf(before + tags) } };
}

/** Such an answer up to its list. */
export const printedHead = (head: object, list: string): string =>
  `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${list}": `;

/** The list, and the end of the answer. */
export const printedList = (items: string): string => `${items === '' ? '[]' : `[\n${items}\n  ]`}\n}\n`;
