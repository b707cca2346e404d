import type { Store } from '../../../clickhouse/client.ts';
import { NotWorthError } from '../../../clickhouse/in-order.ts';
import { missingMark } from '../../../clickhouse/queries/progress/index-state.ts';
import type { Cells } from '../cells/cells.ts';
import type { Kind } from '../kinds/kind.ts';
import { KINDS, type KindName } from '../kinds/kinds.ts';
import { foldLines } from './chunk.ts';

/** Reads all of what somebody asks for one of, beside the turns. */
export interface Folding {
  /** Begins what nobody asked for before. What it gives puts that in its place; it never fails. */
  begin(kinds: Iterable<KindName>): Promise<() => void>;
  /** Goes on with what somebody asked for of late. */
  goOn(clock: number): void;
  /** Whether something is being read by it. */
  isUnderWay(): boolean;
}

/** After one that could not be read, or is to be read anew from its first key on. */
const REST_MS = 5_000;
/** Stretches that are read side by side. */
const LANES = 2;

const NAMES = Object.keys(KINDS) as KindName[];

/**
 * An engine that is asked for one key of a large table takes thousands of times longer than for each of a stretch of
 * them: so all keys are read, one stretch behind the other, as soon as somebody asks for one.
 */
export function createFolding(options: {
  store: Store;
  cells: Cells;
  clock(): number;
  monotonic(): number;
  /** Of what memory says is missing; null where it does not know. */
  mark(): string | null;
  /** Who goes before. */
  before(): Promise<void>;
}): Folding {
  const { store, cells, clock, monotonic, mark, before } = options;
  const restsUntil = new Map<KindName, number>();
  const wanted = new Set<KindName>();
  let lanes = 0;

  const rest = (kind: KindName) => void restsUntil.set(kind, monotonic() + REST_MS);
  const isDue = (kind: KindName) =>
    cells.folded(kind)?.isDue() === true && (restsUntil.get(kind) ?? 0) <= monotonic();
  /** What it gives puts what was read in its place, and says whether that could be. */
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
        // Else a sum could be told without what is missing of it: the next turn says what that is.
        const isSettled = at === null || at === mark();
        if (isSettled) flight.place(chunk);
        else if (flight.fail()) rest(kind);
        return isSettled;
      };
    } catch (error) {
      // Whoever needs one of them asks for it by its key.
      flight.fail();
      // What takes too long to be waited for may be read all the same.
      if (!isAwaited || !(error instanceof NotWorthError)) rest(kind);
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
    goOn: (used) => {
      for (const kind of NAMES) if (cells.isInUse(kind, used) && isDue(kind)) wanted.add(kind);
      for (; wanted.size > 0 && lanes < LANES; lanes += 1)
        void lane().finally(() => {
          lanes -= 1;
        });
    },
  };
}
