import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import {
  decideAfterEnd,
  type EarlierEnds,
  noEarlierEnds,
  type Probe,
  type StreamEnd,
  TOO_MUCH_PENDING,
} from '../../../ingest/stream/core-stream/after-end.ts';
import { StreamEndedError } from '../../../ingest/stream/geyser/ended.ts';

const LAST = 10n;
const HOLE = { fromSlot: 11n, toSlot: 14n, toTime: 1 };

const ended = (code: number, message: string, how: Partial<StreamEnd> = {}): StreamEnd => ({
  error: new StreamEndedError(code, message),
  ...{ brought: false, from: LAST, last: LAST, hole: null, far: null },
  ...how,
});
const AWAY = ended(status.UNAVAILABLE, 'connection refused');
const PRUNED = ended(status.OUT_OF_RANGE, 'too old');
const WORDLESS = ended(status.INTERNAL, 'something went wrong');
const CUT = ended(status.OK, '', { brought: true });
const STUCK = ended(status.CANCELLED, TOO_MUCH_PENDING, { brought: true });
const SILENT = ended(status.CANCELLED, 'no new slot for 30000 ms', { brought: true });
const WITH_HOLE = ended(status.CANCELLED, 'slots are missing', { brought: true, last: 11n, hole: HOLE });
const GONE_ON = ended(status.OK, '', { brought: true, last: 12n });

type Provider = Record<Probe, boolean>;
const KEEPS: Provider = { keepsReplay: true, takesLive: true };

/** What follows on a series of stream ends, and what the provider was asked in between. */
function followed(ends: readonly StreamEnd[], provider: Provider = KEEPS, begun = noEarlierEnds(LAST)) {
  let known: EarlierEnds = begun;
  const follows: string[] = [];
  for (const end of ends) {
    const told: Partial<Provider> = {};
    let next = decideAfterEnd(end, known, told);
    for (; next.type === 'ask'; next = decideAfterEnd(end, known, told)) {
      follows.push(next.question);
      told[next.question] = provider[next.question];
    }
    follows.push(next.type);
    known = next.known;
  }
  return { follows, known };
}

const times = (count: number, end: StreamEnd) => Array.from({ length: count }, () => end);

describe('after a stream ended the same request is made again', () => {
  test('with longer pauses each time, until a slot is released', () => {
    const { follows, known } = followed([CUT, CUT, CUT]);
    expect(follows).toEqual(['again', 'again', 'again']);
    expect(known.failures).toBe(3);
    expect(followed([GONE_ON], KEEPS, known).known.failures).toBe(0);
  });

  test('for ever, where a stream without a replay brings nothing', () => {
    const anew = { ...PRUNED, from: null, last: null };
    expect(new Set(followed(times(9, anew)).follows)).toEqual(new Set(['again']));
  });

  test('for ever, where the stream was ended here for its silence', () => {
    expect(new Set(followed(times(9, SILENT)).follows)).toEqual(new Set(['again']));
  });

  test('for ever, where the provider is away: a request without a replay is refused, too', () => {
    const { follows, known } = followed(times(5, AWAY), { keepsReplay: true, takesLive: false });
    expect(follows).toEqual(['again', 'again', ...times(3, AWAY).flatMap(() => ['takesLive', 'again'])]);
    expect(known).toMatchObject({ failures: 5, looks: 0 });
  });
});

describe('after a stream ended the slots from the first missing one on are left to history', () => {
  const fromTheNext = { type: 'outOfReach', fromSlot: LAST + 1n };

  test('at once, where the end says that the replay does not reach back', () => {
    expect(decideAfterEnd(PRUNED, noEarlierEnds(LAST))).toMatchObject(fromTheNext);
  });

  test('at once, where the provider says that it keeps less', () => {
    const { follows } = followed([WORDLESS], { ...KEEPS, keepsReplay: false });
    expect(follows).toEqual(['keepsReplay', 'outOfReach']);
  });

  test('at the third end in a row that brings nothing and says nothing', () => {
    const { follows } = followed(times(3, WORDLESS));
    expect(follows.filter((one) => one !== 'keepsReplay')).toEqual(['again', 'again', 'outOfReach']);
    expect(followed([WORDLESS, WORDLESS, CUT, WORDLESS]).follows.at(-1)).toBe('again');
    // An end that shows the provider to be away says nothing about the replay, and revokes nothing learnt from others.
    expect(followed([WORDLESS, AWAY, WORDLESS, WORDLESS]).follows.at(-1)).toBe('outOfReach');
  });

  test('where a request without a replay is accepted and this one is not, twice in a row', () => {
    expect(followed(times(4, AWAY)).follows.slice(2)).toEqual([
      'takesLive',
      'again',
      'takesLive',
      'outOfReach',
    ]);
    expect(followed(times(5, CUT)).follows.slice(3)).toEqual([
      'takesLive',
      'again',
      'takesLive',
      'outOfReach',
    ]);
  });

  test('but not where another end, or a refused request without a replay, came between the two', () => {
    const { known } = followed(times(3, AWAY));
    expect(known.looks).toBe(1);
    for (const between of [SILENT, WORDLESS])
      expect(followed([between, AWAY], KEEPS, known).follows.at(-1)).toBe('again');
    const away = followed([AWAY], { ...KEEPS, takesLive: false }, known);
    expect(followed([AWAY], KEEPS, away.known).follows).toEqual(['takesLive', 'again']);
  });

  test('also where the stream was ended here because a slot is larger than may be pending', () => {
    expect(followed(times(5, STUCK)).follows.at(-1)).toBe('outOfReach');
  });

  test('and all counters start again', () => {
    const { known } = followed(times(4, AWAY));
    expect(known).toMatchObject({ failures: 0, emptyEnds: 0, looks: 0 });
    const wordless = followed(times(3, WORDLESS));
    expect(wordless.known.emptyEnds).toBe(0);
    const anew = { ...WORDLESS, from: null, last: null };
    expect(followed([anew], KEEPS, wordless.known).follows).toEqual(['again']);
  });

  test('and what is known of the chain and of the hole is kept', () => {
    const far = { refused: 'another chain', reached: { slot: LAST, sameAt: 5_000n } };
    const { known } = followed([{ ...PRUNED, hole: HOLE }], KEEPS, { ...noEarlierEnds(LAST), ...far });
    expect(known).toMatchObject({ ...far, holeBefore: HOLE.fromSlot });
  });
});

describe('a hole', () => {
  test('is requested once more, and skipped where the replay brings it again', () => {
    const { follows, known } = followed([WITH_HOLE, { ...WITH_HOLE, from: 11n }]);
    expect(follows).toEqual(['again', 'skip']);
    expect(known.failures).toBe(0);
  });

  test('counts as another one where it begins elsewhere, or was not there in between', () => {
    const next = { ...WITH_HOLE, hole: { ...HOLE, fromSlot: 12n } };
    expect(followed([WITH_HOLE, next]).follows).toEqual(['again', 'again']);
    expect(followed([WITH_HOLE, GONE_ON, WITH_HOLE]).follows).toEqual(['again', 'again', 'again']);
  });

  test('is part of what is left to history where the replay is out of reach', () => {
    expect(followed([WITH_HOLE, { ...PRUNED, hole: HOLE }]).follows).toEqual(['again', 'outOfReach']);
  });
});

describe('a stream that would go on far ahead of the log', () => {
  const far = (refused: string | null) => ({ ...SILENT, far: { slot: 5_000n, refused } });

  test('is refused with longer pauses; the reason stays until a stream is taken or a slot is released', () => {
    const { follows, known } = followed([far('another chain'), far('another chain')]);
    expect(follows).toEqual(['refused', 'refused']);
    expect(known).toMatchObject({
      failures: 2,
      refused: 'another chain',
      reached: { slot: LAST, sameAt: null },
    });
    expect(followed([CUT], KEEPS, known).known.refused).toBe('another chain');
    expect(followed([GONE_ON], KEEPS, known).known.refused).toBeNull();
    expect(followed([far(null)], KEEPS, known).known.refused).toBeNull();
  });

  test('is taken at once where it is of the same chain', () => {
    const { follows, known } = followed([AWAY, far(null)]);
    expect(follows).toEqual(['again', 'taken']);
    expect(known).toMatchObject({ failures: 0, reached: { slot: LAST, sameAt: 5_000n } });
    expect(followed([CUT], KEEPS, known).known.reached.sameAt).toBe(5_000n);
    expect(followed([far('another chain')], KEEPS, known).known.reached.sameAt).toBeNull();
  });

  test('changes nothing of what is known of the replay or of a hole', () => {
    const { known } = followed([WORDLESS, { ...WORDLESS, hole: HOLE }]);
    const before = { emptyEnds: 2, holeBefore: HOLE.fromSlot };
    expect(known).toMatchObject(before);
    expect(followed([far('another chain')], KEEPS, known).known).toMatchObject(before);
    expect(followed([far(null)], KEEPS, known).known).toMatchObject(before);
  });
});
