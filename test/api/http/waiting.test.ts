import { expect, test } from 'vitest';
import { createReadGate } from '../../../api/http/turns/read-gate.ts';
import { createTurns } from '../../../api/http/turns/turns.ts';
import { BusyError } from '../../../runtime/errors.ts';
import { createRandom } from '../../support/random.ts';

const SEED = Number(process.env.SEED ?? 15);
const RUNS = 60;
const STEPS = 400;
const ADDRESSES = ['a', 'b', 'c', 'd', 'e', 'flood', 'flood', 'flood', 'flood'];
const seeds = Array.from({ length: RUNS }, (_, n) => SEED * 1_000 + n);

/** Calls that were deferred in any way, and a clock that the test moves. */
function world(seed: number) {
  const random = createRandom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const putOff: (() => void)[] = [];
  let clock = 0;
  return {
    below,
    putOff,
    now: () => clock,
    pass: (ms: number) => {
      clock += ms;
    },
    address: () => ADDRESSES[below(ADDRESSES.length)] as string,
    /** Calls a random one of them, as timers and stores call in no fixed order. */
    callOne: () => putOff.splice(below(putOff.length), 1)[0]?.(),
  };
}

/** Requests, with how each of them ended. */
function asked() {
  const ends: ('answered' | 'told to come again' | 'waits')[] = [];
  return {
    ends,
    note: (work: Promise<unknown>) => {
      const at = ends.push('waits') - 1;
      work.then(
        () => {
          ends[at] = 'answered';
        },
        (error) => {
          expect(error).toBeInstanceOf(BusyError);
          ends[at] = 'told to come again';
        },
      );
    },
  };
}

const settled = () => new Promise(setImmediate);

test.each(seeds)(
  'every request for a turn is answered or refused, whatever comes in whatever order (seed %i)',
  async (seed) => {
    const { below, putOff, now, pass, address, callOne } = world(seed);
    const { ends, note } = asked();
    const late = (call: () => void) => void putOff.push(call);
    const turns = createTurns({ now, later: late, after: late });
    for (let step = 0; step < STEPS; step += 1) {
      const what = below(10);
      if (what < 5) {
        const [takes, isAtOnce] = [below(4) ** 3, below(2) === 0];
        note(
          turns(address(), async () => {
            pass(takes);
            if (!isAtOnce) await new Promise<void>((resolve) => putOff.push(resolve));
            return below(3_000_000);
          }),
        );
      } else if (what < 8) callOne();
      else pass(below(2) === 0 ? below(5) : below(1_500));
      if (below(8) === 0) await settled();
    }
    while (putOff.length > 0) {
      callOne();
      await settled();
    }
    expect(ends).not.toContain('waits');
  },
);

test.each(seeds)(
  'every request for a read is answered or refused, whatever comes in whatever order (seed %i)',
  async (seed) => {
    const { below, putOff, now, pass, address, callOne } = world(seed);
    const { ends, note } = asked();
    const [atOnce, most] = [1 + below(12), 4 + below(40)];
    const others = { anyRecent: () => below(2) === 0 };
    let underWay = 0;
    let resting = 0;
    const after = (call: () => void) => {
      resting += 1;
      putOff.push(() => {
        resting -= 1;
        call();
      });
    };
    const gate = createReadGate({ atOnce, most, now, after, ...(below(2) === 0 ? { others } : {}) });
    for (let step = 0; step < STEPS; step += 1) {
      const what = below(10);
      if (what < 5)
        note(
          gate(address(), async () => {
            underWay += 1;
            expect(underWay).toBeLessThanOrEqual(atOnce);
            await new Promise<void>((resolve) => putOff.push(resolve));
            underWay -= 1;
            if (below(5) === 0) throw new BusyError('the store is busy');
          }),
        );
      else if (what < 8) callOne();
      else pass(below(2) === 0 ? below(300) : below(6_000));
      if (below(8) > 0) continue;
      await settled();
      // With nothing under way and nothing resting, a waiting request would never be called again.
      if (underWay + resting === 0) expect(ends).not.toContain('waits');
    }
    do {
      callOne();
      await settled();
    } while (putOff.length > 0);
    expect(ends).not.toContain('waits');
  },
);
