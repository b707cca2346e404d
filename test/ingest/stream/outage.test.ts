import { afterEach, describe, expect, test } from 'vitest';
import type { BesideMode } from '../../../devnet/geyser/modes.ts';
import type { StreamEvent } from '../../../ingest/stream/event.ts';
import { createOutage } from '../../../ingest/stream/followed-stream/outage.ts';
import {
  createStreamConflict,
  type StreamRole,
} from '../../../ingest/stream/followed-stream/stream-conflict.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage, until } from '../support/stream-stage.ts';
import { watchedLog } from '../support/watched-log.ts';

const SEED = process.env.SEED ?? 'away-1';
const LIMITS = { awayAfterMs: 300 };

let stage: StreamStage;
afterEach(() => stage?.close());

const followedIn = (events: readonly StreamEvent[]) => {
  const last = events.findLast(({ type }) => type === 'followed');
  return last as Extract<StreamEvent, { type: 'followed' }> | undefined;
};
const isAway = (events: readonly StreamEvent[]) => {
  const followed = followedIn(events);
  return followed !== undefined && followed.down !== null && followed.overRpc === followed.addresses;
};
const missedIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.kind === 'marker' ? (record.missed ?? []) : []));

/** Waits until all states are the newest, and markers say that followed addresses are as far as the core. */
async function expectKnown(): Promise<void> {
  const { chain, model } = stage;
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  await stage.settled();
}

/** The words for each mode, and after how long a silent stream counts as dead. */
const AWAY: Record<Exclude<BesideMode, 'taken'>, [words: string, silenceMs: number]> = {
  unavailable: ['the provider is not reachable', 30_000],
  ended: ['the provider ended the stream', 30_000],
  limited: ["the provider's limit is reached", 30_000],
  pings: ['no new slot for 5000 ms', 5_000],
};

describe(`a followed stream that is away (seed ${SEED})`, () => {
  test.each(Object.keys(AWAY) as (keyof typeof AWAY)[])(
    '%s: its addresses are read over RPC in turns, with the reason reported, until it is back',
    async (beside) => {
      const [words, silenceMs] = AWAY[beside];
      stage = await openStreamStage({ seed: SEED, policies: 10 });
      await stage.live(30);
      const records: LogRecord[] = [];
      const { events } = stage.start({ ...LIMITS, silenceMs, log: watchedLog(records) });
      await stage.settled();
      await stage.live(10);
      await stage.settled();
      const { slot: from } = stage.chain.tip();
      const before = records.length;
      stage.geyser.become({ beside });
      await stage.liveUntil('it is away', () => isAway(events));
      expect(followedIn(events)?.down).toBe(words);
      await stage.live(30);
      await expectKnown();
      await stage.restUntil('all are read over RPC', () => isAway(events));
      stage.geyser.become({ beside: 'taken' });
      await stage.liveUntil('it is here again', () => followedIn(events)?.overRpc === 0);
      expect(followedIn(events)).toMatchObject({ reason: null, down: null });
      const back = records.length;
      await stage.live(30);
      await expectKnown();
      const balances = records.slice(back).flatMap((record) => {
        const isBalance = record.kind === 'account' && record.expected === 'token_account';
        return isBalance ? [record.source] : [];
      });
      expect(balances).toContain('stream');
      for (const { after } of missedIn(records.slice(before))) expect(after).toBeGreaterThanOrEqual(from);
    },
  );

  test('addresses that were not read while it was away are logged as carried again as well', async () => {
    stage = await openStreamStage({ seed: SEED, policies: 10 });
    await stage.live(30);
    const records: LogRecord[] = [];
    const { events } = stage.start({ ...LIMITS, log: watchedLog(records) });
    await stage.settled();
    stage.rpc.faults.down('busy');
    stage.geyser.become({ beside: 'unavailable' });
    await stage.liveUntil('it is away', () => isAway(events));
    stage.geyser.become({ beside: 'taken' });
    await stage.liveUntil('it is here again', () => followedIn(events)?.overRpc === 0);
    stage.rpc.faults.down(null);
    const lost = () => {
      const last = new Map(
        records.flatMap((record) =>
          record.kind === 'carried' ? [[encodeBase58(record.address), record.carried] as const] : [],
        ),
      );
      return [...last.values()].filter((isCarried) => !isCarried).length;
    };
    expect(lost()).toBeGreaterThan(0);
    await stage.liveUntil('none is lost', () => lost() === 0);
  });

  test('the reason is reported together with the absence, even at the first failure', async () => {
    stage = await openStreamStage({ seed: SEED, policies: 10 });
    await stage.live(30);
    const { events } = stage.start({ awayAfterMs: 0 });
    await stage.settled();
    const before = events.length;
    stage.geyser.become({ beside: 'unavailable' });
    await stage.liveUntil('it is away', () => isAway(events));
    const told = events.slice(before).flatMap((event) => (event.type === 'followed' ? [event] : []));
    expect(told.find(({ overRpc, addresses }) => overRpc === addresses)?.down).toBe(
      'the provider is not reachable',
    );
    await expectKnown();
  });

  test('has all of its addresses read over RPC if it is away from the start', async () => {
    stage = await openStreamStage({ seed: SEED, policies: 10, modes: { beside: 'unavailable' } });
    await stage.live(30);
    const { events } = stage.start(LIMITS);
    await stage.liveUntil('it is away', () => isAway(events));
    await stage.live(20);
    await expectKnown();
    expect(followedIn(events)?.overRpc).toBe(followedIn(events)?.addresses);
  });
});

test('where the provider allows one stream the core gets it, even if the followed stream was there before', async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
  await stage.live(30);
  const { events } = stage.start(LIMITS);
  await stage.settled();
  stage.geyser.become({ streams: 1 });
  const isEnd = ({ type }: StreamEvent) => type === 'disconnected';
  const before = events.filter(isEnd).length;
  stage.geyser.faults.drop();
  await until('it has noticed', () => events.filter(isEnd).length > before);
  const noticed = events.findLastIndex(isEnd);
  await stage.liveUntil('the core streams again', () =>
    events.slice(noticed).some(({ type }) => type === 'released'),
  );
  await stage.live(20);
  await until('the other is read over RPC', () => {
    const followed = followedIn(events);
    return followed !== undefined && followed.overRpc === followed.addresses;
  });
  expect(followedIn(events)?.down).toBe("the provider's limit is reached");
  await expectKnown();
});

test('where the provider keeps only the newest stream the core has it, as reported; both run once it keeps two', async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10, modes: { streams: 1, newest: true } });
  await stage.live(30);
  const aloneMs = 3_000;
  const { events } = stage.start({ aloneMs });
  await stage.liveUntil('it is told', () => isAway(events));
  expect(followedIn(events)?.down).toBe('the provider ends one stream where another begins');
  const ends = () => events.filter(({ type }) => type === 'disconnected').length;
  const [before, since] = [ends(), performance.now()];
  await stage.live(20);
  await expectKnown();
  // Each retry of the followed stream may end the core's once more, and a slow machine makes more retries.
  const tries = Math.ceil((performance.now() - since) / aloneMs);
  expect(ends() - before).toBeLessThanOrEqual(1 + tries);
  stage.geyser.become({ streams: null });
  await stage.liveUntil('both are there', () => followedIn(events)?.overRpc === 0);
  expect(followedIn(events)?.down).toBeNull();
  await stage.live(20);
  await expectKnown();
});

describe('detection that two streams end one another', () => {
  let now = 0;
  const conflict = () => createStreamConflict(() => now);
  const inTurns = (ends: number, apartMs: number, isOurs = false) => {
    const two = conflict();
    const order = ['core', 'beside'] as const;
    two.began('core');
    for (let at = 0; at < ends; at += 1) {
      two.began(order[(at + 1) % 2] as StreamRole);
      now += apartMs;
      two.ended(order[at % 2] as StreamRole, isOurs);
    }
    return two.isKnown();
  };

  test('takes five ends in turns, each soon after the other stream began', () => {
    expect(inTurns(5, 200)).toBe(true);
    expect(inTurns(4, 200)).toBe(false);
    expect(inTurns(50, 6_000)).toBe(false);
  });

  test('ignores ends that were cancelled here, as on a chain that rests', () => {
    expect(inTurns(50, 200, true)).toBe(false);
  });

  test('ignores that both end at once, or that one of them ends again and again', () => {
    const both = conflict();
    for (let at = 0; at < 20; at += 1) {
      both.began('core');
      both.began('beside');
      both.ended('core');
      both.ended('beside');
    }
    expect(both.isKnown()).toBe(false);
    const one = conflict();
    one.began('core');
    for (let at = 0; at < 20; at += 1) {
      one.began('beside');
      one.ended('beside');
    }
    expect(one.isKnown()).toBe(false);
  });

  test('takes a single end after a retry, until both streams were open together for a while', () => {
    const two = conflict();
    two.tryAgain();
    expect(two.isKnown()).toBe(false);
    two.began('core');
    two.began('beside');
    two.ended('core');
    expect(two.isKnown()).toBe(true);
    two.ended('beside');
    expect(two.isKnown()).toBe(true);
    two.tryAgain();
    two.began('core');
    two.began('beside');
    now += 6_000;
    two.ended('core');
    two.began('core');
    two.ended('beside');
    expect(two.isKnown()).toBe(false);
  });
});

test('a stream is away after 30 s without updates, and the slots it missed are unread until all is read again', () => {
  let now = 0;
  const outage = createOutage(30_000, () => now);
  now = 29_999;
  expect(outage.isDue()).toBe(false);
  now = 30_000;
  expect(outage.isDue()).toBe(true);
  outage.restartTimer();
  expect(outage.isDue()).toBe(false);
  expect(outage.heard()).toBe(false);
  outage.begin(7n, 5n);
  expect(outage.unread()).toEqual({ after: 7n, to: 7n });
  outage.begin(7n, 9n);
  expect(outage.unread()).toEqual({ after: 7n, to: 9n });
  outage.allRead();
  expect([outage.isAway(), outage.unread()]).toEqual([true, null]);
  expect([outage.heard(), outage.isAway()]).toEqual([true, false]);
});
