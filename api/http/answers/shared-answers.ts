import { LRUCache } from 'lru-cache';
import type { Latest } from '../../latest/latest.ts';
import type { Made } from '../../latest/made/made.ts';
import type { View } from '../../latest/view.ts';
import type { RouteReply } from '../route.ts';
import { type Answer, answerOf } from './answers.ts';

type Make = (view: View) => RouteReply;

/** Answers as ready bytes, kept as long as they would be made the same. */
export interface SharedAnswers {
  /** What can be answered without waiting for anything; null where it cannot. */
  ready(key: string, make: Make): Answer | null;
  /** The same with whatever it takes, one production at a time for a key; failures are not kept. */
  wait(key: string, make: Make, inTurn: InTurn): Promise<Answer>;
}

/** Runs a read of the store when it is its turn. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

interface Kept {
  made: Made<unknown>;
  answer: Answer;
}

export function createSharedAnswers(latest: Latest, maxBytes: number): SharedAnswers {
  const inFlight = new Map<string, Promise<Kept>>();
  const ready = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer, made }, key) =>
      answer.bytes.length + key.length + made.cells.length * 16 + 200,
  });

  const keep = (key: string, made: Made<RouteReply>): Kept => {
    const before = ready.get(key);
    const now = answerOf(made.value);
    // Made of other states, and says the same: its bytes stay.
    const answer =
      before?.answer.etag === now.etag && before.answer.status === now.status ? before.answer : now;
    const kept = { made: { ...made, value: null }, answer };
    ready.set(key, kept);
    return kept;
  };
  const produce = async (key: string, make: Make, inTurn: InTurn): Promise<Kept> =>
    keep(key, await inTurn(() => latest.read(make)));

  return {
    ready: (key, make) => {
      const known = ready.get(key);
      if (known !== undefined && latest.held(known.made)) return known.answer;
      const made = latest.readNow(make);
      return made && keep(key, made).answer;
    },
    wait: async (key, make, inTurn) => {
      const running = inFlight.get(key);
      if (running !== undefined) {
        const { made, answer } = await running;
        // It may have begun before what this one has to be told of.
        if (latest.held(made)) return answer;
      }
      const flight = inFlight.get(key) ?? produce(key, make, inTurn);
      inFlight.set(key, flight);
      try {
        return (await flight).answer;
      } finally {
        if (inFlight.get(key) === flight) inFlight.delete(key);
      }
    },
  };
}
