/**
 * Numbers by the key of a row, in typed arrays that grow with the rows: the garbage collector looks at none of them.
 */
export interface Table {
  /** Adds a column with `each` numbers for every place. */
  column<Numbers>(of: NumbersOf<Numbers>, each?: number): Numbers;
  placeOf(key: string): number | undefined;
  /** Takes a place for a new key; its numbers are still those of a former row. @throws RangeError beyond `most` */
  allocate(key: string): number;
  free(place: number): void;
  size(): number;
  /** One behind the last place that is or was taken. */
  end(): number;
}

interface NumbersOf<Numbers> {
  new (buffer: ArrayBuffer): Numbers;
  readonly BYTES_PER_ELEMENT: number;
}

const FIRST_ROOM = 256;

/** @param most rows; address space for all of them is reserved at once, memory is taken as they come */
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
    placeOf: (key) => places.get(key),
    allocate: (key) => {
      const place = free.pop() ?? names.length;
      if (place >= most) throw new RangeError(`more than ${most} rows`);
      if (place >= room) grow();
      places.set(key, place);
      names[place] = key;
      return place;
    },
    free: (place) => {
      places.delete(names[place] as string);
      names[place] = '';
      free.push(place);
    },
    size: () => places.size,
    end: () => names.length,
  };
}
