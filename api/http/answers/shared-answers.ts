import { LRUCache } from 'lru-cache';
import type { Source } from '../../latest/cells/cells.ts';
import type { Latest } from '../../latest/latest.ts';
import { isInvalidated, type Memo, memoryOf } from '../../latest/memos/memo.ts';
import type { View } from '../../latest/view.ts';
import type { RouteReply } from '../route.ts';
import { createOneReadPerKey, type InTurn } from '../turns/read-for-all.ts';
import { answerOf } from './answers.ts';
import { type Answer, keptForm, lengthOf } from './forms.ts';

type Make = (view: View) => RouteReply;

/** Answers as ready bytes, kept as long as they would be made the same. */
export interface SharedAnswers {
  /** The answer that is kept, if it would be made the same now; otherwise null. */
  kept(key: string): Answer | null;
  /** The answer, if it can be made without waiting for anything; otherwise null. */
  ready(key: string, make: Make): Answer | null;
  /**
   * The answer, after waiting for whatever it takes; one production at a time for a key, failures are not kept.
   * @param address of the client
   */
  wait(key: string, make: Make, inTurn: InTurn, address: string): Promise<Answer>;
}

interface Kept {
  made: Memo<unknown>;
  answer: Answer;
}

/** An answer that took this long to make is kept at once. */
const QUICK_MS = 10;
/**
 * Smaller answers are kept at once, too. If pages of 100 kB were kept that nobody asks for again, they would add up,
 * within a second, to as much memory as brings about a full garbage collection, which stops everybody for longer than
 * it takes to make them.
 */
const LARGE_BYTES = 32 * 1024;
/**
 * Any other answer is kept once it is asked for again within this time, in no more than AGAIN_PART of the room: all
 * pages of 300 policies.
 */
const AGAIN_MS = 25;
const AGAIN_PART = 2 / 5;
const MOST_ASKED = 2_000;
/**
 * Room for answers in pieces, which they share with each other and with the parts that memory keeps: as much as those
 * have there, for there may be as many answers as there are ranges, and each keeps its pieces in memory.
 */
const PIECES_BYTES = 112 * 1024 * 1024;
/** What an answer takes beside its bytes, most beside the smallest: 2.4 kB of the process, as measured. */
const EACH_BYTES = 2_400;

/** @param clock milliseconds that only go forward */
export function createSharedAnswers(
  latest: Pick<Latest, 'read' | 'readNow' | 'stillHolds'>,
  maxBytes: number,
  clock = () => performance.now(),
  mostInPieces = PIECES_BYTES,
): SharedAnswers {
  const reads = createOneReadPerKey<Kept>();
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

  /** When answers were made that were not kept. */
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
  /**
   * All kept answers are made of one memory: those of a former one no longer hold, and would keep what that one held.
   */
  const forgetFormer = (now: Source | undefined) => {
    if (now !== memory) for (const one of rooms) one.clear();
    memory = now;
  };

  const keep = (key: string, made: Memo<RouteReply>, now = answerOf(made.value), whole = ready): Kept => {
    // Not kept, but answered: the clients that wait for it began with that memory, too.
    if (isInvalidated(made)) return { made: { ...made, value: null }, answer: keptForm(now) };
    forgetFormer(memoryOf(made));
    const before = keptOf(key);
    // Where it was made of other states but says the same, the bytes that are kept stay.
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
    known !== undefined && latest.stillHolds(known.made) ? known.answer : null;

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
        // That read may have begun before a change that this client has to see.
        if (latest.stillHolds(made)) return answer;
      }
      const flight = reads.underWay(key) ?? reads.next(key, () => produce(key, make), inTurn, address);
      return (await flight).answer;
    },
  };
}
