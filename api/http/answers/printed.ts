/** An item of a list that stands in an answer's first level, as every answer is printed. */
export const printedItem = (item: unknown): string =>
  `    ${JSON.stringify(item, null, 2).replaceAll('\n', '\n    ')}`;

/**
 * An answer whose last field is a list that is printed already: its items by `printedItem`, a comma and a newline between
 * them, nothing where there are none. @param head its other fields, at least one
 */
export function printedAnswer(head: object, list: string, items: string): Buffer {
  return Buffer.from(printedHead(head, list) + printedList(items));
}

/** Such an answer up to its list. */
export const printedHead = (head: object, list: string): string =>
  `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${list}": `;

/** The list, and the end of the answer. */
export const printedList = (items: string): string => `${items === '' ? '[]' : `[\n${items}\n  ]`}\n}\n`;
