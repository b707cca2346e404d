/** Numbers by the key of a row, in columns that grow with the rows: nothing of them is looked at by the collector. */
export interface Table {
  /** A column of numbers by place, so many of them for each. */
  column<Numbers>(of: NumbersOf<Numbers>, each?: number): Numbers;
  at(key: string): number | undefined;
  /** A place for a key that has none; what stands there is another's. @throws RangeError beyond `most` */
  take(key: string): number;
  leave(place: number): void;
  size(): number;
  /** Behind the last place that is or was taken. */
  end(): number;
}

interface NumbersOf<Numbers> {
  new (buffer: ArrayBuffer): Numbers;
  readonly BYTES_PER_ELEMENT: number;
}

const FIRST_ROOM = 256;

/** @param most rows; the address space for them is taken at once, memory as they come */
export function createTable(most: number): Table {
  const places = new Map<string, number>();
  const names: string[] = [];
  const free: number[] = [];
  const columns: { buffer: ArrayBuffer; bytes: number }[] = [];
  let room = 0;
  const grow = () => {
    room = Math.min(most, Math.max(FIRST_ROOM, room * 2));
    for (const { buffer, bytes } of columns) buffer.resize(room * bytes);
  };
  return {
    column: (Of, each = 1) => {
      const bytes = Of.BYTES_PER_ELEMENT * each;
      const buffer = new ArrayBuffer(room * bytes, { maxByteLength: most * bytes });
      columns.push({ buffer, bytes });
      return new Of(buffer);
    },
    at: (key) => places.get(key),
    take: (key) => {
      const place = free.pop() ?? names.length;
      if (place >= most) throw new RangeError(`more than ${most} rows`);
      if (place >= room) grow();
      places.set(key, place);
      names[place] = key;
      return place;
    },
    leave: (place) => {
      places.delete(names[place] as string);
      names[place] = '';
      free.push(place);
    },
    size: () => places.size,
    end: () => names.length,
  };
}
