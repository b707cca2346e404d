import { LRUCache } from 'lru-cache';
import type { Latest } from '../latest/latest.ts';
import type { Made, View } from '../latest/view.ts';
import { type Answer, answerOf } from './answers.ts';
import type { RouteReply } from './route.ts';

/** Answers as ready bytes, kept as long as they would be made the same. */
export type SharedAnswers = (key: string, make: (view: View) => RouteReply) => Answer | Promise<Answer>;

interface Kept {
  made: Made<unknown>;
  answer: Answer;
}

/** One production at a time for a key; failures are not kept. */
export function createSharedAnswers(latest: Latest, maxBytes: number): SharedAnswers {
  const inFlight = new Map<string, Promise<Kept>>();
  const ready = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer, made }, key) =>
      answer.bytes.length + key.length + made.cells.length * 16 + 200,
  });

  const produce = async (key: string, make: (view: View) => RouteReply): Promise<Kept> => {
    const made = await latest.read(make);
    const before = ready.get(key);
    const answer = answerOf(made.value);
    // Made of other states, and says the same: its bytes and what was made of them stay.
    const kept = {
      made: { ...made, value: null },
      answer: before?.answer.etag === answer.etag ? before.answer : answer,
    };
    ready.set(key, kept);
    return kept;
  };
  const wait = async (key: string, make: (view: View) => RouteReply): Promise<Answer> => {
    const running = inFlight.get(key);
    if (running !== undefined) {
      const { made, answer } = await running;
      // It may have begun before what this one has to be told of.
      if (latest.held(made)) return answer;
    }
    const flight = inFlight.get(key) ?? produce(key, make);
    inFlight.set(key, flight);
    try {
      return (await flight).answer;
    } finally {
      if (inFlight.get(key) === flight) inFlight.delete(key);
    }
  };
  return (key, make) => {
    const known = ready.get(key);
    return known !== undefined && latest.held(known.made) ? known.answer : wait(key, make);
  };
}
