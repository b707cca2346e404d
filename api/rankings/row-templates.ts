import { oldest } from '../figures/times.ts';

/** A printed row without what it has in common with others: a fifth of its text, put together again in 2 µs. */
export interface TemplatedRow {
  shape: Shape;
  /** What stands in the gaps of the shape, a line each. */
  values: string;
  /** Whether `MARK` stands in it. */
  marked: boolean;
}

/** What rows that differ in their values alone have in common. */
interface Shape {
  /** One before each value, and one behind the last. */
  around: readonly string[];
  /** Of each value the one before it under the same name: what is equal to that is left out. -1: there is none. */
  like: readonly number[];
}

export interface RowTemplates {
  fold(text: string): TemplatedRow;
}

/**
 * In place of a time: it is filled in when a row is put together. With a time behind it, it is the older of both.
 */
export const MARK = '\0';
/** The field of times in which it may stand. */
const TIME = 'asOf';
const PRINTED_MARK = JSON.stringify(MARK).slice(0, -1);
/** No value is printed as what begins with this. */
const FILLED_IN = '*';

/** Of these a figure has the same in every row. */
const FIXED: ReadonlySet<string> = new Set(['source', 'absent', 'quoteSymbolSource']);
/** And these are the same in many rows. */
const COMMON: ReadonlySet<string> = new Set([
  ...FIXED,
  ...(['quoteMint', 'quoteSymbol', 'quoteDecimals', 'mode', 'id', 'name', 'provider', 'enabled'] as const),
  ...(['locked', 'paused', 'poolStatus'] as const),
]);
/** Beyond them what is common is no longer looked for: each shape is some 3 kB. */
const MOST_SHAPES = 2_000;

/** For texts of objects as `JSON.stringify` prints them with indentation, without lists. */
export function createRowTemplates(mostShapes = MOST_SHAPES): RowTemplates {
  const shapes = new Map<string, Shape>();
  return {
    fold: (text) => {
      const common = shapes.size < mostShapes ? COMMON : FIXED;
      const around: string[] = [];
      const names: string[] = [];
      const values: string[] = [];
      let begun = 0;
      for (let at = 0; at < text.length; ) {
        const next = text.indexOf('\n', at);
        const end = next < 0 ? text.length : next;
        const colon = text.indexOf('": ', at);
        if (colon >= 0 && colon < end) {
          const name = text.slice(text.indexOf('"', at) + 1, colon);
          const from = colon + 3;
          const to = text[end - 1] === ',' ? end - 1 : end;
          if (text[from] !== '{' && !common.has(name)) {
            around.push(text.slice(begun, from));
            names.push(name);
            values.push(text.slice(from, to));
            begun = to;
          }
        }
        at = end + 1;
      }
      around.push(text.slice(begun));
      const id = around.join(MARK);
      const shape = shapes.get(id) ?? { around, like: likeOf(names) };
      shapes.set(id, shape);
      const isMark = (value: string, at: number) => names[at] === TIME && value.startsWith(PRINTED_MARK);
      const left = values.map((value, at) => {
        if (value === values[shape.like[at] as number]) return '';
        return isMark(value, at) ? FILLED_IN + value.slice(PRINTED_MARK.length, -1) : value;
      });
      return { shape, values: left.join('\n'), marked: values.some(isMark) };
    },
  };
}

/** @param mark what stands where `MARK` stood */
export function fillIn({ shape, values }: TemplatedRow, mark: string | null): string {
  const { around, like } = shape;
  const all = values.split('\n');
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
