import type { ChangedTable, Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { InOrder, KeyRange } from '../../../clickhouse/in-order.ts';
import type { DayWindow } from '../../../clickhouse/queries/ranking/day-windows.ts';
import type { RowsSince } from '../../../clickhouse/rows-since.ts';
import type { AlreadyRead } from './already-read.ts';

/** A value of memory, and the unix milliseconds from which on it no longer holds even if nothing is written. */
export interface Loaded<Value> {
  value: Value;
  until: number;
}

/** What is known of how best to query the store: a wrong hint only costs time. */
export interface Hints {
  /** Those of these mints that have many events; waits for those of their totals that are being read. */
  busyAmong(mints: readonly string[]): Promise<Set<string>>;
}

/** How all rows of a kind are read in the order of its keys, and what value the rows of one key make. */
export interface Ordered<Value> {
  read(store: Store, stretch: KeyRange, now: number): Promise<string>;
  /** Null where the rows do not tell it: the key is then asked for by itself. */
  valueOf(rows: readonly object[]): Loaded<Value> | null;
}

/** One kind of thing that memory holds by key: how it is read, and which writes make it old. */
export interface Kind<Value> {
  /** The value of a key for which nothing is found. */
  none: Value;
  /** Values by key; a key without one is not in the map. */
  load(store: Store, keys: readonly string[], now: number, hints: Hints): Promise<Map<string, Loaded<Value>>>;
  /** The same for the keys that were written in slot `since` or after it; the others are not in the map. */
  loadWritten?(store: Store, keys: readonly string[], since: string): Promise<Map<string, Loaded<Value>>>;
  /** From how many keys on `loadWritten` is used: for fewer, `load` reads little as it is. */
  leastWritten: number;
  /** Brings the one value of this kind, which is in memory, up to date with these changes. */
  refresh?(store: Store, before: Value, changes: Changes, read: AlreadyRead): Promise<Loaded<Value>>;
  /** Set where all rows of the kind are kept, whether or not a reader asked for them. */
  ordered?: Ordered<Value>;
  /** Tables whose writes make a value old: a write to the same key, or to any. */
  touchedBy: Partial<Record<ChangedTable, 'key' | 'any'>>;
  /** A sum of events: it is served together with what is missing from it. */
  sums: boolean;
  /** Read on demand, beside the turns that keep the other kinds warm; dropped when it is old. */
  slow: boolean;
  /** A slow kind over so many rows that no other read may wait for it: it has connections of its own. */
  long: boolean;
  /** Whether a slow value in use is read again after a change unasked: a client that polls it would wait after each. */
  isRefreshedUnasked(key: string): boolean;
  /** A row of its own, cheap to read: it is read again after a change even if no reader used it recently. */
  steady: boolean;
  /** Bytes of a value in memory, where it would take long to write it out: all others are measured as text. */
  sizeOf?(value: Value): number;
  /** Keyed by mint, and not cheap where the mint has many events: then only read again if it was used recently. */
  heavy: boolean;
  /** The key of the changed table that a key of this kind belongs to. */
  subject(key: string): string;
}

type Options = Partial<
  Pick<
    Kind<unknown>,
    'sums' | 'slow' | 'long' | 'steady' | 'heavy' | 'isRefreshedUnasked' | 'leastWritten' | 'sizeOf'
  >
>;
type Touched = Kind<unknown>['touchedBy'];

/** Reads the rows of all keys, with the same columns as by their key. */
interface AllInOrder {
  inOrder?: InOrder;
}
interface RowsInOrder<Row> extends AllInOrder {
  /** The row of a key; null where the row that was read in order does not tell it. */
  wholeOf?(row: Row): Row | null;
}
interface ListsInOrder<Row> extends AllInOrder {
  /** The rows of one key, read with a column that tells whether they are all; null where they are not. */
  wholeOf?(rows: readonly object[]): readonly Row[] | null;
}
interface WindowsInOrder<Row> {
  inOrder(store: Store, stretch: KeyRange, until: number): Promise<string>;
  windowOf(row: never): DayWindow<Row>;
}

const FOR_EVER = Number.POSITIVE_INFINITY;
const MANY_KEYS = 32;

function orderedBy<Value>(
  inOrder: InOrder | undefined,
  valueIn: (rows: readonly object[]) => Value | null,
): { ordered?: Ordered<Value> } {
  if (inOrder === undefined) return {};
  return {
    ordered: {
      read: (store, stretch) => inOrder(store, stretch),
      valueOf: (rows) => {
        const value = valueIn(rows);
        return value === null ? null : { value, until: FOR_EVER };
      },
    },
  };
}

function kindOf<Value>(
  none: Value,
  touchedBy: Touched,
  load: Kind<Value>['load'],
  options: Options & Partial<Pick<Kind<Value>, 'subject' | 'ordered' | 'loadWritten'>> = {},
): Kind<Value> {
  return {
    none,
    touchedBy,
    load,
    sums: false,
    slow: false,
    long: false,
    steady: false,
    heavy: false,
    leastWritten: MANY_KEYS,
    isRefreshedUnasked: () => false,
    subject: (key) => key,
    ...options,
  };
}

/** A kind with one row by key. */
export function row<Row>(
  touchedBy: Touched,
  ask: (store: Store, keys: readonly string[]) => Promise<Map<string, Row>>,
  {
    inOrder,
    wholeOf = (one) => one,
    since,
    ...options
  }: Options & RowsInOrder<Row> & { since?: RowsSince<Row> } = {},
): Kind<Row | undefined> {
  const loadWritten: Kind<Row | undefined>['loadWritten'] =
    since && (async (store, keys, slot) => lasting(await since(store, keys, slot)));
  return kindOf<Row | undefined>(
    undefined,
    touchedBy,
    async (store, keys) => lasting(await ask(store, keys)),
    {
      ...options,
      ...(loadWritten === undefined ? {} : { loadWritten }),
      ...orderedBy(inOrder, ([first]) => wholeOf(first as Row)),
    },
  );
}

/** A kind with several rows by key. */
export function list<Row>(
  touchedBy: Touched,
  ask: (store: Store, keys: readonly string[], hints: Hints) => Promise<Map<string, readonly Row[]>>,
  { inOrder, wholeOf, ...options }: Options & ListsInOrder<Row> = {},
): Kind<readonly Row[]> {
  const valueIn = wholeOf ?? ((rows) => rows as readonly Row[]);
  return kindOf<readonly Row[]>(
    [],
    touchedBy,
    async (store, keys, _now, hints) => lasting(await ask(store, keys, hints)),
    { ...options, ...orderedBy(inOrder, valueIn) },
  );
}

/** A kind of what a window of 24 hours holds, by key. */
export function dayWindow<Row>(
  touchedBy: Touched,
  none: Row,
  ask: (store: Store, keys: readonly string[], until: number) => Promise<Map<string, DayWindow<Row>>>,
  { all, ...options }: Options & { all?: WindowsInOrder<Row> } = {},
): Kind<Row> {
  const loaded = ({ row, until }: DayWindow<Row>): Loaded<Row> => ({ value: row, until: until * 1000 });
  const ordered = all && {
    read: (store: Store, stretch: KeyRange, now: number) =>
      all.inOrder(store, stretch, Math.floor(now / 1000)),
    valueOf: ([first]: readonly object[]) => loaded(all.windowOf(first as never)),
  };
  return kindOf(
    none,
    touchedBy,
    async (store, keys, now) => {
      const found = await ask(store, keys, Math.floor(now / 1000));
      return new Map([...found].map(([key, window]) => [key, loaded(window)]));
    },
    { ...options, sums: true, ...(ordered === undefined ? {} : { ordered }) },
  );
}

/** A kind with a single value, whose key is ''. */
export function single<Value>(
  touchedBy: Touched,
  none: Value,
  ask: (store: Store, now: number) => Promise<Value>,
  options: Options & { keptMs?: number } = {},
): Kind<Value> {
  const { keptMs = FOR_EVER, ...rest } = options;
  return kindOf(
    none,
    touchedBy,
    async (store, _keys, now) => new Map([['', { value: await ask(store, now), until: now + keptMs }]]),
    rest,
  );
}

/** A kind with a single value that turns bring up to date from the changes, instead of reading all of it. */
export function refreshable<Value>(
  touchedBy: Touched,
  none: Value,
  ask: (store: Store) => Promise<Value>,
  refresh: (store: Store, before: Value, changes: Changes, read: AlreadyRead) => Promise<Value>,
  options: Options = {},
): Kind<Value> {
  return {
    ...single(touchedBy, none, (store) => ask(store), options),
    refresh: async (store, before, changes, read) => ({
      value: await refresh(store, before, changes, read),
      until: FOR_EVER,
    }),
  };
}

/** A kind that is read key by key, with more than the subject in the key: see `pageKey`. */
export function page<Value>(
  touchedBy: Touched,
  none: Value,
  ask: (store: Store, parts: readonly string[]) => Promise<Value>,
  options: Options = {},
): Kind<Value> {
  return kindOf(
    none,
    touchedBy,
    async (store, keys) => {
      const values = keys.map(async (key) => [key, await ask(store, JSON.parse(key) as string[])] as const);
      return lasting(new Map(await Promise.all(values)));
    },
    { ...options, slow: true, subject: (key) => (JSON.parse(key) as string[])[0] ?? '' },
  );
}

/** For pages by offset, which comes last in the key. */
export const isFirstPage = (key: string): boolean => (JSON.parse(key) as string[]).at(-1) === '0';

/** The subject comes first. */
export const pageKey = (...parts: readonly (string | number)[]): string => JSON.stringify(parts.map(String));

function lasting<Value>(values: ReadonlyMap<string, Value>): Map<string, Loaded<Value>> {
  return new Map([...values].map(([key, value]) => [key, { value, until: FOR_EVER }]));
}
