import type { Store } from '../../../clickhouse/client.ts';
import { TooManyRowsError } from '../../../clickhouse/in-order.ts';
import { missingMark } from '../../../clickhouse/queries/progress/index-state.ts';
import type { Cells } from '../cells/cells.ts';
import type { Kind } from '../kinds/kind.ts';
import { KINDS, type KindName } from '../kinds/kinds.ts';
import { foldLines } from './chunk.ts';

/** Reads all rows of a kind, beside the turns, once a reader asks for one of them. */
export interface Folding {
  /**
   * Reads the first stretch of those kinds of which nothing is read; never fails. What it gives puts these in place.
   */
  begin(kinds: Iterable<KindName>): Promise<() => void>;
  /** Goes on with the kinds that readers asked for recently. */
  readMore(clock: number): void;
  /** Whether stretches are being read beside the turns. */
  isUnderWay(): boolean;
}

/** Pause after a stretch that could not be read, or before a kind is read anew from its first key on. */
const REST_MS = 5_000;
/** Stretches that are read side by side. */
const LANES = 2;

const NAMES = Object.keys(KINDS) as KindName[];

/**
 * ClickHouse takes thousands of times longer for one key of a large table than for each key of a stretch: so all keys
 * are read, one stretch behind the other, as soon as a reader asks for one.
 */
export function createFolding(options: {
  store: Store;
  cells: Cells;
  clock(): number;
  monotonic(): number;
  /** Mark of what memory says is missing; null where that is not settled. */
  mark(): string | null;
  /** Resolves once no read is under way that goes first. */
  before(): Promise<void>;
}): Folding {
  const { store, cells, clock, monotonic, mark, before } = options;
  const restsUntil = new Map<KindName, number>();
  const wanted = new Set<KindName>();
  let lanes = 0;

  const rest = (kind: KindName) => void restsUntil.set(kind, monotonic() + REST_MS);
  const isDue = (kind: KindName) =>
    cells.folded(kind)?.isDue() === true && (restsUntil.get(kind) ?? 0) <= monotonic();
  /** Reads a stretch. What it gives puts the stretch in its place, and returns whether it could. */
  const read = async (kind: KindName, isAwaited = false): Promise<() => boolean> => {
    const flight = cells.folded(kind)?.begin();
    const { ordered, sums } = KINDS[kind] as Kind<unknown>;
    if (flight == null || ordered === undefined) return () => false;
    try {
      const { stretch } = flight;
      const text = await ordered.read(store, { ...stretch, isAwaited }, clock());
      const chunk = await foldLines(text, stretch);
      const at = sums ? await missingMark(store) : null;
      return () => {
        // Otherwise a sum could be served without what is missing from it: the next turn finds out what that is.
        const isSettled = at === null || at === mark();
        if (isSettled) flight.place(chunk);
        else if (flight.fail()) rest(kind);
        return isSettled;
      };
    } catch (error) {
      // Readers that need one of these keys ask for it by itself.
      flight.fail();
      // What takes too long for a reader to wait for may still be read in the background.
      if (!isAwaited || !(error instanceof TooManyRowsError)) rest(kind);
      return () => false;
    }
  };
  const lane = async () => {
    for (;;) {
      await before();
      const kind = NAMES.find((one) => wanted.has(one) && isDue(one));
      if (kind === undefined) return;
      const place = await read(kind);
      if (!place()) wanted.delete(kind);
    }
  };

  return {
    isUnderWay: () => lanes > 0,
    begin: async (kinds) => {
      const begun = [...kinds].filter((kind) => cells.folded(kind)?.isEmpty() && isDue(kind));
      const places = await Promise.all(begun.map((kind) => read(kind, true)));
      return () => {
        for (const place of places) place();
      };
    },
    readMore: (used) => {
      for (const kind of NAMES) if (cells.isInUse(kind, used) && isDue(kind)) wanted.add(kind);
      for (; wanted.size > 0 && lanes < LANES; lanes += 1)
        void lane().finally(() => {
          lanes -= 1;
        });
    },
  };
}
