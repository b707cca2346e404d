const [BEFORE, BEHIND] = ['{\n  "": [\n'.length, '\n  ]\n}'.length];

/** An item of a list that stands in an answer's first level, as every answer is printed. */
export const printedItem = (item: unknown): string =>
  JSON.stringify({ '': [item] }, null, 2).slice(BEFORE, -BEHIND);

const TEXT = Symbol('text');

/** What is sent as it is printed already. */
export interface Printed {
  [TEXT]: string;
}

/** Null for any other body. */
export function printedText(body: unknown): string | null {
  const isPrinted = typeof body === 'object' && body !== null && TEXT in body;
  return isPrinted ? (body as Printed)[TEXT] : null;
}

/**
 * An answer whose last field is a list that is printed already. @param head its other fields, at least one
 * @param items as by `printedItem`, with a comma and a newline between two of them
 */
export const printedAnswer = (head: object, list: string, items: string): Printed => ({
  [TEXT]: `${printedHead(head, list)}${printedList(items)}`,
});

/** Such an answer up to its list. */
export const printedHead = (head: object, list: string): string =>
  `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${list}": `;

/** The list, and the end of the answer. */
export const printedList = (items: string): string => `${items === '' ? '[]' : `[\n${items}\n  ]`}\n}\n`;
