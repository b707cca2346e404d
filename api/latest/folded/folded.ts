import { AFTER_ALL_KEYS, type KeyRange } from '../../../clickhouse/in-order.ts';
import { type Chunk, coversKey, isKey, rowsAt } from './chunk.ts';

/** What is known of a key: its rows as they were read, or the text of its value as it was last told. */
export type FoldedValue = { rows: readonly object[]; chars: number } | { text: string; until: number };

/** All values of one kind, asked for or not, as text by key: what was read in order, and what was told since. */
export interface Folded {
  /** Undefined where the store has to be asked. */
  get(key: string): FoldedValue | undefined;
  /** Whether changes of a key have to be passed to `update`. */
  has(key: string): boolean;
  /** Takes the value of a key that was read by itself. @param text null: it is another, and nobody knows which */
  update(key: string, text: string | null, until: number): void;
  /** Forgets everything, where any of it may be old. */
  forget(): void;
  /** Whether nothing of it was read. */
  isEmpty(): boolean;
  /** Whether something is to be read. */
  isDue(): boolean;
  /** Begins to read the next stretch; null where nothing is due, or one is being read. */
  begin(): Flight | null;
}

/** A stretch that is being read. What was told since that began is newer than the stretch. */
export interface Flight {
  stretch: KeyRange;
  place(chunk: Chunk): void;
  /** To be called where it could not be read. @returns whether all that was read before is forgotten with it */
  fail(): boolean;
}

/** Bytes that all kinds together may take, and take now. */
export interface Room {
  most: number;
  used: number;
}

/** Rows of the first stretch of a kind: the first reader that asks for the kind waits for them. */
const FIRST_ROWS = 1_000;
const STRETCH_BYTES = 4 * 1024 * 1024;
const MOST_ROWS = 100_000;
/** Limit of a stretch that is read again: its last key is known. */
const ALL_ROWS = 10_000_000;
const TOLD_BYTES = 16 * 1024 * 1024;
const TOLD_OVERHEAD = 150;
/** Told values grow to this multiple of the limit where reading again fails: one failure is no reason to forget all. */
const TOLD_AT_MOST = 2;

interface Told {
  text: string | null;
  until: number;
  at: number;
}

/** @param mostTold bytes of told values; beyond them all stretches are read again, which puts the values in place */
export function createFolded(room: Room, mostTold = TOLD_BYTES): Folded {
  /** One behind the other, from the first key on; a key that lies between two is asked for by itself. */
  let chunks: Chunk[] = [];
  let told = new Map<string, Told>();
  let toldBytes = 0;
  let moment = 0;
  let flight: { begunAt: number; isOld: boolean } | null = null;
  /** The next of the chunks that are read again; null while none are. */
  let again: number | null = null;

  const reach = () => chunks.at(-1)?.last ?? '';
  const chunkOf = (key: string): Chunk | undefined => {
    const chunk = chunks.find(({ last }) => key <= last);
    return chunk !== undefined && coversKey(chunk, key) ? chunk : undefined;
  };
  const sizeOf = (key: string, { text }: Told) => key.length + (text?.length ?? 0) + TOLD_OVERHEAD;
  const remove = (key: string) => {
    const known = told.get(key);
    if (known === undefined) return;
    toldBytes -= sizeOf(key, known);
    told.delete(key);
  };
  /** Removes what was told of keys behind all that was read: the store is asked for those. */
  const removeBeyond = () => {
    for (const key of told.keys()) if (key > reach()) remove(key);
  };
  /** The next stretch to read, and the place of its chunk; null where nothing is due. */
  const next = (): { at: number; stretch: KeyRange } | null => {
    if (toldBytes > mostTold && chunks.length > 0) again ??= 0;
    const old = again === null ? undefined : chunks[again];
    if (again !== null && old !== undefined)
      return {
        at: again,
        stretch: { behind: old.behind, last: old.last, most: old.lacksLast ? FIRST_ROWS : ALL_ROWS },
      };
    if (reach() !== AFTER_ALL_KEYS && room.used < room.most) {
      const rowBytes = chunks.at(-1)?.rowBytes ?? 0;
      const most = chunks.length === 0 ? FIRST_ROWS : Math.ceil(STRETCH_BYTES / Math.max(rowBytes, 1));
      return {
        at: chunks.length,
        stretch: { behind: reach(), last: AFTER_ALL_KEYS, most: Math.min(most, MOST_ROWS) },
      };
    }
    return null;
  };
  const put = (at: number, chunk: Chunk, begunAt: number) => {
    const last = chunks[at + 1]?.behind ?? chunk.last;
    room.used += chunk.bytes.length - (chunks[at]?.bytes.length ?? 0);
    chunks[at] = chunk;
    if (again !== null) again = again + 1 < chunks.length ? again + 1 : null;
    for (const [key, { at: toldAt }] of told)
      if (key > chunk.behind && key <= last && (toldAt <= begunAt || !chunkOf(key))) remove(key);
    if (again === null && toldBytes > mostTold) removeBeyond();
  };

  const forget = () => {
    for (const { bytes } of chunks) room.used -= bytes.length;
    [chunks, told, toldBytes, again] = [[], new Map(), 0, null];
    if (flight !== null) flight.isOld = true;
  };

  return {
    forget,
    has: (key) => flight !== null || chunkOf(key) !== undefined || told.has(key),
    get: (key) => {
      const known = told.get(key);
      if (known !== undefined)
        return known.text === null ? undefined : { text: known.text, until: known.until };
      if (!isKey(key)) return undefined;
      const chunk = chunkOf(key);
      return chunk && rowsAt(chunk, key);
    },
    update: (key, text, until) => {
      remove(key);
      moment += 1;
      const one = { text, until, at: moment };
      told.set(key, one);
      toldBytes += sizeOf(key, one);
    },
    isEmpty: () => chunks.length === 0,
    isDue: () => flight === null && next() !== null,
    begin: () => {
      const going = flight === null ? next() : null;
      if (going === null) return null;
      const own = { begunAt: moment, isOld: false };
      flight = own;
      return {
        stretch: going.stretch,
        place: (chunk) => {
          flight = null;
          if (!own.isOld) put(going.at, chunk, own.begunAt);
        },
        fail: () => {
          flight = null;
          removeBeyond();
          // A table that has become too long can never be read again, and what is told would grow for ever.
          const isTooMuch = again !== null && toldBytes > TOLD_AT_MOST * mostTold;
          if (isTooMuch) forget();
          return isTooMuch;
        },
      };
    },
  };
}
