import { LRUCache } from 'lru-cache';
import type { Source } from '../../latest/cells/cells.ts';
import type { Latest } from '../../latest/latest.ts';
import { isLetGo, type Memo, memoryOf } from '../../latest/memos/memo.ts';
import type { View } from '../../latest/view.ts';
import type { RouteReply } from '../route.ts';
import { createReadsForAll, type InTurn } from '../turns/read-for-all.ts';
import { answerOf } from './answers.ts';
import { type Answer, keptForm, lengthOf } from './forms.ts';

type Make = (view: View) => RouteReply;

/** Answers as ready bytes, kept as long as they would be made the same. */
export interface SharedAnswers {
  /** What is kept and would be made the same; null where there is none. */
  kept(key: string): Answer | null;
  /** What can be answered without waiting for anything; null where it cannot. */
  ready(key: string, make: Make): Answer | null;
  /** The same with whatever it takes, one production at a time for a key; failures are not kept. @param address of who asks */
  wait(key: string, make: Make, inTurn: InTurn, address: string): Promise<Answer>;
}

interface Kept {
  made: Memo<unknown>;
  answer: Answer;
}

/** What takes so long is kept at once. */
const QUICK_MS = 10;
/**
 * And so is what is smaller. Where pages of 100 kB are kept that nobody asks for again, a second of them is as much memory
 * as has all that is in memory looked through for garbage, which stops everybody for longer than it takes to make them.
 */
const LARGE_BYTES = 32 * 1024;
/** Asked for again within this time it is kept, too, but takes no more than this part of the place: all pages of 300 policies. */
const AGAIN_MS = 25;
const AGAIN_PART = 2 / 5;
const MOST_ASKED = 2_000;
/**
 * Of those in pieces, which share them with each other and with what is kept of their parts: as much as that, for there may
 * be as many answers as there are ranges, and each keeps its pieces from going.
 */
const PIECES_BYTES = 112 * 1024 * 1024;
/** What one takes beside its bytes, of which the smallest have most: 2.4 kB of the process by measure. */
const EACH_BYTES = 2_400;

/** @param clock milliseconds that only go forward */
export function createSharedAnswers(
  latest: Pick<Latest, 'read' | 'readNow' | 'held'>,
  maxBytes: number,
  clock = () => performance.now(),
  mostInPieces = PIECES_BYTES,
): SharedAnswers {
  const reads = createReadsForAll<Kept>();
  const room = (maxSize: number) =>
    new LRUCache<string, Kept>({
      maxSize,
      sizeCalculation: ({ answer, made }, key) =>
        lengthOf(answer) + key.length + made.cells.length * 16 + EACH_BYTES,
    });
  const ready = room(maxBytes * (1 - AGAIN_PART));
  const again = room(maxBytes * AGAIN_PART);
  const inPieces = room(mostInPieces);
  const rooms = [ready, again, inPieces];

  /** When they were made, and not kept. */
  const asked = new LRUCache<string, number>({ max: MOST_ASKED });
  const isAskedAgain = (key: string): boolean => {
    const now = clock();
    const before = asked.get(key) ?? Number.NEGATIVE_INFINITY;
    asked.set(key, now);
    return now - before <= AGAIN_MS;
  };

  const keptOf = (key: string) => ready.get(key) ?? again.get(key) ?? inPieces.get(key);
  const forget = (key: string, but?: (typeof rooms)[number]) => {
    for (const one of rooms) if (one !== but) one.delete(key);
  };

  let memory: Source | undefined;
  /** What is kept is of one memory: of a former one it holds no more, and would keep what that held. */
  const forgetFormer = (now: Source | undefined) => {
    if (now !== memory) for (const one of rooms) one.clear();
    memory = now;
  };

  const keep = (key: string, made: Memo<RouteReply>, now = answerOf(made.value), whole = ready): Kept => {
    // Whoever waits for it began with that memory, too.
    if (isLetGo(made)) return { made: { ...made, value: null }, answer: keptForm(now) };
    forgetFormer(memoryOf(made));
    const before = keptOf(key);
    // Made of other states, and says the same: its bytes stay.
    const isSame = before?.answer.etag === now.etag && before.answer.status === now.status;
    const answer = isSame ? before.answer : keptForm(now);
    if (isSame) now.giveBack?.();
    const kept = { made: { ...made, value: null }, answer };
    const among = answer.rest === undefined ? whole : inPieces;
    among.set(key, kept);
    forget(key, among);
    return kept;
  };
  const produce = async (key: string, make: Make): Promise<Kept> => keep(key, await latest.read(make));

  const heldOf = (known: Kept | undefined) =>
    known !== undefined && latest.held(known.made) ? known.answer : null;

  return {
    kept: (key) => heldOf(keptOf(key)),
    ready: (key, make) => {
      const known = keptOf(key);
      const held = heldOf(known);
      if (held !== null) return held;
      const begun = clock();
      const made = latest.readNow(make);
      if (made === null) return null;
      const answer = answerOf(made.value);
      if (clock() - begun >= QUICK_MS || answer.bytes.length < LARGE_BYTES)
        return keep(key, made, answer).answer;
      if (isAskedAgain(key)) return keep(key, made, answer, again).answer;
      if (known !== undefined) forget(key);
      return answer;
    },
    wait: async (key, make, inTurn, address) => {
      const running = reads.underWay(key);
      if (running !== undefined) {
        const { made, answer } = await running;
        // It may have begun before what this one has to be told of.
        if (latest.held(made)) return answer;
      }
      const flight = reads.underWay(key) ?? reads.next(key, () => produce(key, make), inTurn, address);
      return (await flight).answer;
    },
  };
}
