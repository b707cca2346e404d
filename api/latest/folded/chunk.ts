import { setImmediate as breathe } from 'node:timers/promises';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { KeyRange } from '../../../clickhouse/in-order.ts';

/** The rows of a stretch of keys as text, in the order of their keys, folded page by page. */
export interface Chunk {
  behind: string;
  last: string;
  /** Whether the rows of the last key are left out, because they are more than are read at once. */
  lacksLast: boolean;
  /** Names of the columns, the key's first. */
  names: readonly string[];
  /** The first key of each page, and where its bytes end. */
  firsts: readonly string[];
  ends: Uint32Array;
  bytes: Buffer;
  /** How many rows there are and, in `rowBytes`, how many characters of text one has before it is folded. */
  rows: number;
  rowBytes: number;
}

/** Characters of a page before it is folded: one row is found in it in some 30 µs. */
const PAGE_CHARS = 8_192;
/** Pages that are folded before others run: one takes 40 to 60 µs, and requests are answered in between. */
const PAGES_AT_ONCE = 64;
/** The quickest settings: half of the text is keys, and gets no smaller. */
const FOLDING = { level: 1, windowBits: 13, memLevel: 6, chunkSize: PAGE_CHARS };

/**
 * Folds the lines that were read of a stretch. If there are as many as the stretch allows, the rows of the last key may
 * be incomplete: that key is left to the next stretch, or left out where reading on would get no further.
 */
export async function foldLines(text: string, { behind, last, most }: KeyRange): Promise<Chunk> {
  const names = text === '' ? [] : (JSON.parse(text.slice(0, text.indexOf('\n'))) as string[]);
  const begun = text.indexOf('\n') + 1;
  const firsts: string[] = [];
  const pages: Buffer[] = [];
  let rows = 0;
  /** The newest key and the one before it, where the rows of the newest begin, and how many they are. */
  let [key, before, ofKey, keyRows] = ['', '', begun, 0];
  let from = begun;
  const close = async (to: number) => {
    if (to === from) return;
    pages.push(deflateRawSync(text.slice(from, to), FOLDING));
    if (pages.length % PAGES_AT_ONCE === 0) await breathe();
  };
  for (let at = begun; at < text.length; ) {
    const one = keyOf(text, at);
    if (one !== key) {
      [before, key, ofKey, keyRows] = [key, one, at, 0];
      if (firsts.length === 0) firsts.push(copyOf(one));
      else if (at - from >= PAGE_CHARS) {
        await close(at);
        from = at;
        firsts.push(copyOf(one));
      }
    }
    rows += 1;
    keyRows += 1;
    const end = text.indexOf('\n', at);
    at = end < 0 ? text.length : end + 1;
  }
  const isCut = rows >= most;
  const lacksLast = isCut && (before === '' || key === last);
  const end = isCut ? ofKey : text.length;
  if (end > from) await close(end);
  else firsts.length = pages.length;
  const kept = isCut ? rows - keyRows : rows;
  let length = 0;
  const ends = Uint32Array.from(pages, (page) => (length += page.length));
  const rowBytes = rows === 0 ? 0 : (text.length - begun) / rows;
  const reach = isCut ? copyOf(lacksLast ? key : before) : last;
  const bytes = Buffer.concat(pages);
  return { behind, last: reach, lacksLast, names, firsts, ends, bytes, rows: kept, rowBytes };
}

/** Whether a text can be a key of rows in order; any other is not looked for in them. */
export const isKey = (text: string): boolean => /^[0-9A-Za-z]+$/.test(text);

/** Whether a chunk that ends at this key or behind it has the key's rows. */
export const coversKey = ({ behind, last, lacksLast }: Chunk, key: string): boolean =>
  key > behind && !(lacksLast && key === last);

/** The rows of a key that lies in a chunk, as the store gives them by their key, and their size as text. */
export function rowsAt(chunk: Chunk, key: string): { rows: object[]; chars: number } {
  const found = { rows: [] as object[], chars: 0 };
  const page = pageOf(chunk.firsts, key);
  if (page < 0) return found;
  const bytes = chunk.bytes.subarray(page === 0 ? 0 : chunk.ends[page - 1], chunk.ends[page]);
  const text = inflateRawSync(bytes).toString();
  const head = `["${key}",`;
  let at = text.startsWith(head) ? 0 : text.indexOf(`\n${head}`) + 1;
  if (at === 0 && !text.startsWith(head)) return found;
  while (text.startsWith(head, at)) {
    const end = text.indexOf('\n', at);
    const line = end < 0 ? text.slice(at) : text.slice(at, end);
    found.rows.push(rowOf(chunk.names, JSON.parse(line) as unknown[]));
    found.chars += line.length;
    at += line.length + 1;
  }
  return found;
}

/** A substring would keep all of its text in memory: this is a copy. */
const copyOf = (key: string): string => Buffer.from(key).toString();

const keyOf = (text: string, at: number): string => text.slice(at + 2, text.indexOf('"', at + 2));

function rowOf(names: readonly string[], values: readonly unknown[]): object {
  const row: Record<string, unknown> = {};
  for (let at = 1; at < names.length; at += 1) row[names[at] as string] = values[at];
  return row;
}

/** The last page whose first key is not behind this one; -1 where there is none. */
function pageOf(firsts: readonly string[], key: string): number {
  let low = 0;
  let high = firsts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((firsts[middle] as string) <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
