import { tagOf } from './tagged-bytes.ts';

const LIST_END = '\n  ]\n}\n';
const [BEFORE, BEHIND] = ['{\n  "": [\n'.length, '\n  ]\n}'.length];

/** The text of an item of a list that stands in an answer's first level, indented as every answer is. */
export const printedItem = (item: unknown): string =>
  JSON.stringify({ '': [item] }, null, 2).slice(BEFORE, -BEHIND);

const PARTS = Symbol('parts');

/** A body that is printed already, and sent as it is. */
export interface Printed {
  [PARTS]: PrintedParts;
}

export interface PrintedParts {
  /** One behind the other, at least one. */
  texts: readonly string[];
  /** Equal only where the texts are. */
  tag: string;
}

/** The parts of a printed body; null for any other. */
export function printedParts(body: unknown): PrintedParts | null {
  const isPrinted = typeof body === 'object' && body !== null && PARTS in body;
  return isPrinted ? (body as Printed)[PARTS] : null;
}

/** Takes the items of an answer's list, one after the other; an answer is put together of many of them. */
export interface PrintedItems {
  /**
   * Adds an item's text in two parts, of which the first is short. @param tag one line, equal only where the text is
   */
  add(begin: string, rest: string, tag: string): void;
}

/**
 * An answer whose last field is a list that is printed already, each item as by `printedItem`.
 * @param head its other fields, at least one; together with an item's tag they determine the item's text
 */
export function printedAnswer(head: object, list: string, addTo: (items: PrintedItems) => void): Printed {
  const before = printedHead(head, list);
  const texts = [before];
  let tags = '';
  addTo({
    add: (begin, rest, tag) => {
      // The separator goes with `begin`, since to write a text of its own costs more than its few characters.
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
