/** An item of a list that stands in an answer's first level, as every answer is printed. */
export const printedItem = (item: unknown): string =>
  `    ${JSON.stringify(item, null, 2).replaceAll('\n', '\n    ')}`;

/**
 * An answer whose last field is a list that is printed already. @param head its other fields, at least one
 * @param items pieces of them, as by `printedItem`, with a comma and a newline between two items
 */
export function printedAnswer(head: object, list: string, items: readonly string[]): Buffer {
  const [begin, end] = items.length === 0 ? ['[]', ''] : ['[\n', '\n  ]'];
  return bytesOf([`${printedHead(head, list)}${begin}`, ...items, `${end}\n}\n`]);
}

/** Their bytes one after the other: a text that is joined first is copied three times. */
function bytesOf(pieces: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  let at = 0;
  for (const text of pieces) at += bytes.write(text, at);
  return bytes;
}

/** Such an answer up to its list. */
export const printedHead = (head: object, list: string): string =>
  `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${list}": `;

/** The list, and the end of the answer. */
export const printedList = (items: string): string => `${items === '' ? '[]' : `[\n${items}\n  ]`}\n}\n`;
