import { oldest } from '../figures/times.ts';

/** A printed row without what it has in common with others: a fifth of its text, put together again in 2 µs. */
export interface TemplatedRow {
  shape: Shape;
  /** What stands in the gaps of the shape, one value a line. */
  values: string;
  /** Whether `MARK` stands in it. */
  marked: boolean;
  /** Characters that are kept for this row alone. */
  length: number;
}

/** What rows that differ only in these values have in common. */
interface Shape {
  /** The text before each value, and the text after the last. */
  around: readonly string[];
  /** For each value the index of the one before it under its name, or -1: a value equal to that one is left out. */
  like: readonly number[];
}

export interface RowTemplates {
  fold(text: string): TemplatedRow;
  /** With a shape of its own, and gaps only where `MARK` stands: for few enough rows to keep each as it is printed. */
  whole(text: string): TemplatedRow;
}

/**
 * Stands for a time that is filled in when a row is put together; with a time after it, for the older of both.
 */
export const MARK = '\0';
/** The field in which `MARK` may stand. */
const TIME = 'asOf';
const PRINTED_MARK = JSON.stringify(MARK).slice(0, -1);
/** Begins a value that is filled in: no JSON value begins with it. */
const FILLED_IN = '*';

/** Fields that a figure has the same in every row. */
const FIXED: ReadonlySet<string> = new Set(['source', 'absent', 'quoteSymbolSource']);
/** Fields that are the same in many rows. */
const COMMON: ReadonlySet<string> = new Set([
  ...FIXED,
  ...(['quoteMint', 'quoteSymbol', 'quoteDecimals', 'mode', 'id', 'name', 'provider', 'enabled'] as const),
  ...(['locked', 'paused', 'poolStatus'] as const),
]);
/** Each shape is some 3 kB: with so many of them, new ones have only the FIXED fields in common. */
const MOST_SHAPES = 2_000;

/** For texts of objects as `JSON.stringify` prints them with indentation, without lists. */
export function createRowTemplates(mostShapes = MOST_SHAPES): RowTemplates {
  const shapes = new Map<string, Shape>();
  return {
    fold: (text) => {
      const common = shapes.size < mostShapes ? COMMON : FIXED;
      const { around, names, values } = cut(text, (name) => !common.has(name));
      const id = around.join(MARK);
      const shape = shapes.get(id) ?? { around, like: likeOf(names) };
      shapes.set(id, shape);
      const left = values.map((value, at) =>
        value === values[shape.like[at] as number] ? '' : leftOf(names[at] as string, value),
      );
      const marked = values.some((value, at) => isMark(names[at] as string, value));
      const all = left.join('\n');
      return { shape, values: all, marked, length: all.length };
    },
    whole: (text) => {
      const { around, names, values } = cut(text, isMark);
      const all = values.map((value, at) => leftOf(names[at] as string, value)).join('\n');
      const shape = { around, like: names.map(() => -1) };
      return { shape, values: all, marked: values.length > 0, length: text.length };
    },
  };
}

const isMark = (name: string, value: string): boolean => name === TIME && value.startsWith(PRINTED_MARK);

const leftOf = (name: string, value: string): string =>
  isMark(name, value) ? FILLED_IN + value.slice(PRINTED_MARK.length, -1) : value;

interface Cut {
  /** The text before each value, and the text after the last. */
  around: string[];
  names: string[];
  values: string[];
}

/** Cuts out the values for which `isOne` holds; the text has one field a line. */
function cut(text: string, isOne: (name: string, value: string) => boolean): Cut {
  const [around, names, values]: [string[], string[], string[]] = [[], [], []];
  let begun = 0;
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\n', at);
    const end = next < 0 ? text.length : next;
    const colon = text.indexOf('": ', at);
    if (colon >= 0 && colon < end) {
      const name = text.slice(text.indexOf('"', at) + 1, colon);
      const from = colon + 3;
      const to = text[end - 1] === ',' ? end - 1 : end;
      const value = text.slice(from, to);
      if (text[from] !== '{' && isOne(name, value)) {
        around.push(text.slice(begun, from));
        names.push(name);
        values.push(value);
        begun = to;
      }
    }
    at = end + 1;
  }
  around.push(text.slice(begun));
  return { around, names, values };
}

/** @param mark the time that is printed in place of `MARK` */
export function fillIn({ shape, values }: TemplatedRow, mark: string | null): string {
  const { around, like } = shape;
  const all = like.length === 0 ? [] : values.split('\n');
  let text = '';
  for (let at = 0; at < all.length; at += 1) {
    if (all[at] === '') all[at] = all[like[at] as number] as string;
    const value = all[at] as string;
    text += around[at] as string;
    text += value.startsWith(FILLED_IN) ? JSON.stringify(filledIn(value, mark)) : value;
  }
  return text + (around[all.length] as string);
}

function filledIn(value: string, mark: string | null): string | null {
  const time = value.slice(FILLED_IN.length);
  return time === '' ? mark : oldest([mark, time]);
}

const likeOf = (names: readonly string[]): number[] =>
  names.map((name, at) => (at === 0 ? -1 : names.lastIndexOf(name, at - 1)));
