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

/**
 * An answer whose last field is a list that is printed already. @param head its other fields, at least one; they say
 * of an item what its tag does not. @param items as by `printedItem`
 */
export function printedAnswer(head: object, list: string, items: readonly PrintedParts[]): Printed {
  const before = printedHead(head, list);
  const tag = tagOf(JSON.stringify([before, ...items.map((item) => item.tag)]));
  if (items.length === 0) return { [PARTS]: { texts: [before, printedList('')], tag } };
  const texts = [before];
  for (const [at, { texts: own }] of items.entries()) {
    // With the first of them, since to write a text costs more than its few characters.
    texts.push((at === 0 ? '[\n' : ',\n') + own[0]);
    for (let next = 1; next < own.length; next += 1) texts.push(own[next] as string);
  }
  texts.push(LIST_END);
  return { [PARTS]: { texts, tag } };
}

/** Such an answer up to its list. */
export const printedHead = (head: object, list: string): string =>
  `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${list}": `;

/** The list, and the end of the answer. */
export const printedList = (items: string): string => `${items === '' ? '[]' : `[\n${items}\n  ]`}\n}\n`;
