import { setImmediate as othersAsk } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readRemoteAccounts, remoteAccountsRound } from '../../../ingest/poll/remote-accounts.ts';
import { createPerpReader, WEIGHT_BURST, WEIGHT_PER_SECOND } from '../../../ingest/poll/venues/perp.ts';
import { createBucket } from '../../../runtime/outside/bucket.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { type Answer, type AnsweringServer, type Asked, serveAnswers } from '../../support/answering.ts';
import { captureLog, pollOptions } from './support/capture.ts';

const USER = 'ab'.repeat(20);
const account = (number: number) => ({
  address: `venue account ${number}`,
  policy: `policy ${number}`,
  remoteAccount: '00'.repeat(12) + USER.slice(2) + String(number).padStart(2, '0'),
  assetClass: 16,
  attested: 0,
});
const STATE = {
  marginSummary: { accountValue: '12.3456789', totalNtlPos: '0.0000019' },
  time: 1_790_000_000_000,
};

let server: AnsweringServer | null = null;
afterEach(() => server?.close());

const typeOf = ({ body }: Asked) => (body as { type: string }).type;

/** Reads accounts at a venue with these answers; the mode of every account is `default` unless given. */
async function readAt(
  state: (asked: Asked) => Answer | null,
  accounts = [account(1)],
  mode: Answer = { body: '"default"' },
) {
  server = await serveAnswers((asked) => (typeOf(asked) === 'userAbstraction' ? mode : state(asked)));
  const log = captureLog();
  const reader = createPerpReader(server.url, createBucket(1e6, 1e6));
  const { signal } = new AbortController();
  await readRemoteAccounts('perp', reader, accounts, (records) => log.append(records), signal);
  return log;
}

describe('an account at the perpetuals venue', () => {
  test('is read in millionths, rounded down, with the venue’s own time', async () => {
    const log = await readAt(() => ({ body: STATE }));
    expect(log.readings()).toEqual([
      {
        type: 'venue_account',
        venueAccount: 'venue account 1',
        venue: 'perp',
        equity: '12345678',
        notional: '1',
        reason: null,
        reachable: true,
        error: null,
        venueTime: 1_790_000_000_000,
      },
      { type: 'venue_status', venue: 'perp', ok: true, error: null },
    ]);
    expect(server?.asked.map(({ path, body }) => [path, body])).toEqual([
      ['/info', { type: 'userAbstraction', user: `0x${USER.slice(2)}01` }],
      ['/info', { type: 'clearinghouseState', user: `0x${USER.slice(2)}01` }],
    ]);
  });

  test.each(['unifiedAccount', 'portfolioMargin'])('is absent with the reason in mode %s', async (mode) => {
    const log = await readAt(() => ({ body: STATE }), [account(1)], { body: JSON.stringify(mode) });
    expect(log.readings()[0]).toMatchObject({
      equity: null,
      notional: null,
      reachable: true,
      reason: 'the account is unified at the venue: its account value understates equity',
    });
  });

  test.each([undefined, null])('without a time (%s) is present, and the reason says so', async (time) => {
    const log = await readAt(() => ({ body: { marginSummary: STATE.marginSummary, time } }));
    expect(log.readings()[0]).toMatchObject({
      equity: '12345678',
      venueTime: null,
      reason: 'the venue gave no time',
    });
  });

  test.each(['ff', '00'])('whose 32 bytes (%s) are no address is never asked for', async (byte) => {
    const log = await readAt(() => ({ body: STATE }), [{ ...account(1), remoteAccount: byte.repeat(32) }]);
    expect(log.readings()).toMatchObject([
      { equity: null, reachable: false, reason: expect.stringContaining('no address') },
    ]);
    expect(server?.asked).toEqual([]);
  });

  test.each<[string, Answer, number, RegExp]>([
    ['bytes that are no text', { body: new Uint8Array([0xff, 0, 0x7b]) }, 1, /^not JSON$/],
    ['null', { body: 'null' }, 1, /no object/],
    [
      'numbers for texts',
      { body: { marginSummary: { accountValue: 1, totalNtlPos: 2 } } },
      1,
      /no decimal string/,
    ],
    ['a refusal in text', { status: 422, body: 'Failed to deserialize' }, 0, /^answered 422$/],
    ['a page of a gateway', { status: 502, body: '<html>' }, 0, /^answered 502$/],
    ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, 0, /^answered 302$/],
    ['5 MB', { body: 'x'.repeat(5 * 1024 * 1024) }, 0, /reply over/],
  ])('answered with %s is unreachable and says why', async (_, answer, letters, reason) => {
    const log = await readAt(() => answer);
    expect(log.readings()).toMatchObject([
      { venue: 'perp', reachable: false, equity: null, notional: null, error: expect.stringMatching(reason) },
      { type: 'venue_status', venue: 'perp', ok: false, error: expect.stringMatching(reason) },
    ]);
    expect(log.letters()).toHaveLength(letters);
    if (letters > 0)
      expect(log.letters()[0]).toMatchObject({ what: 'reading:perp', where: 'venue account 1' });
  });
});

test('an invalid answer for one account affects neither the other accounts nor the venue’s status', async () => {
  const log = await readAt(
    ({ body }) => ({ body: (body as { user: string }).user.endsWith('02') ? 'null' : STATE }),
    [1, 2, 3, 4, 5].map(account),
  );
  const readings = new Map(
    log.readings().map((one) => ['venueAccount' in one ? one.venueAccount : one.type, one]),
  );
  expect(readings.size).toBe(6);
  for (const number of [1, 3, 4, 5])
    expect(readings.get(`venue account ${number}`)).toMatchObject({ reachable: true });
  expect(readings.get('venue account 2')).toMatchObject({ reachable: false });
  expect(readings.get('venue_status')).toMatchObject({ ok: true, error: null });
});

test('the venue’s status is recorded with the first readings, not at the end of the round', async () => {
  const log = await readAt(
    () => ({ body: STATE }),
    Array.from({ length: 30 }, (_, n) => account(n)),
  );
  const types = log.readings().map(({ type }) => type);
  expect(types.indexOf('venue_status')).toBeLessThan(10);
  expect(types.filter((type) => type === 'venue_account')).toHaveLength(30);
});

test('a long round records the venue’s status again and again', async () => {
  let now = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const reader = {
    read: async () => {
      now += 500;
      return { records: [], failure: null, asked: true };
    },
  };
  const log = captureLog();
  const accounts = Array.from({ length: 40 }, (_, n) => account(n));
  const { signal } = new AbortController();
  await readRemoteAccounts('perp', reader, accounts, (records) => log.append(records), signal);
  clock.mockRestore();
  // Four are asked at once.
  expect(log.readings().filter(({ type }) => type === 'venue_status').length).toBeGreaterThanOrEqual(10);
});

test('a venue that is down is asked for a few accounts only, and every account is recorded as unreachable', async () => {
  const accounts = Array.from({ length: 50 }, (_, index) => account(index));
  const log = await readAt(() => ({ status: 503, body: 'busy' }), accounts);
  const readings = log.readings().filter(({ type }) => type === 'venue_account');
  expect(readings).toHaveLength(50);
  for (const reading of readings) {
    expect(reading).toMatchObject({ reachable: false, error: 'answered 503' });
  }
  expect(server?.asked.length).toBeLessThan(20);
});

test.each([
  ['no JSON', { body: 'sorry' }],
  ['an account without numbers', { body: { marginSummary: {} } }],
  ['a refusal', { status: 422, body: 'Failed to deserialize' }],
] as [string, Answer][])(
  'accounts for which a venue answers with %s do not keep others from being read',
  async (_, odd) => {
    const accounts = Array.from({ length: 20 }, (_, index) => account(index));
    const isOdd = ({ body }: Asked) => Number((body as { user: string }).user.slice(-2)) < 10;
    const readings = (await readAt((asked) => (isOdd(asked) ? odd : { body: STATE }), accounts)).readings();
    const reachable = new Map(
      readings.flatMap((reading) =>
        reading.type === 'venue_account' ? [[reading.venueAccount, reading.reachable]] : [],
      ),
    );
    expect(reachable).toEqual(new Map(accounts.map(({ address }, index) => [address, index >= 10])));
    expect(readings).toContainEqual({ type: 'venue_status', venue: 'perp', ok: true, error: null });
  },
);

test('after a retry-after that outlasts the round no more is requested, and the other accounts are recorded', async () => {
  let now = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  let reads = 0;
  const reader = {
    read: async () => {
      reads += 1;
      await othersAsk();
      // The rest ends later than the round.
      now = 61_000;
      return {
        ...{ records: [], asked: true },
        failure: { error: 'answered 429', retryAfterMs: 1, onlyThisAccount: false },
      };
    },
  };
  const log = captureLog();
  const accounts = Array.from({ length: 40 }, (_, n) => account(n));
  const { signal } = new AbortController();
  await readRemoteAccounts('perp', reader, accounts, (records) => log.append(records), signal);
  clock.mockRestore();
  expect(reads).toBe(4);
  expect(log.readings().filter(({ type }) => type === 'venue_account')).toHaveLength(36);
});

test('an account’s mode is requested again after an hour at most, its state every time', async () => {
  let now = 1_000_000;
  server = await serveAnswers((asked) => ({
    body: typeOf(asked) === 'userAbstraction' ? '"default"' : STATE,
  }));
  const reader = createPerpReader(server.url, createBucket(1e6, 1e6), () => now);
  const { signal } = new AbortController();
  for (const later of [0, 60_000, 3_600_001]) {
    now += later;
    await reader.read(account(1), signal);
  }
  expect(server.asked.map(typeOf)).toEqual([
    'userAbstraction',
    'clearinghouseState',
    'clearinghouseState',
    'userAbstraction',
    'clearinghouseState',
  ]);
});

test('modes that were requested together expire at different times, the same ones with a new reader', async () => {
  const MINUTE = 60_000;
  let now = 1_000_000;
  const asked: string[] = [];
  server = await serveAnswers((one) => {
    const isMode = typeOf(one) === 'userAbstraction';
    if (isMode) asked.push((one.body as { user: string }).user);
    return { body: isMode ? '"default"' : STATE };
  });
  const accounts = Array.from({ length: 60 }, (_, n) => account(n));
  const { signal } = new AbortController();
  const askedEach = async (step: number) => {
    const reader = createPerpReader(server?.url as string, createBucket(1e6, 1e6), () => now);
    const began = now;
    const steps: string[][] = [];
    for (now = began; now <= began + 60 * MINUTE + 1; now += step) {
      // One after the other: of sixty at once, the last would have to wait for all others within its timeout.
      for (const one of accounts) await reader.read(one, signal);
      steps.push(asked.splice(0).sort());
    }
    return steps;
  };
  const [first = [], ...later] = await askedEach(5 * MINUTE);
  expect(first).toHaveLength(accounts.length);
  // Each once more within the hour, except those whose turn is in its last minutes; none in its first half.
  expect(later.slice(0, 5).flat()).toEqual([]);
  expect(new Set(later.flat()).size).toBe(later.flat().length);
  expect(later.flat().length).toBeGreaterThan(accounts.length / 2);
  // Spread evenly, each of six steps would have ten.
  expect(Math.max(...later.map(({ length }) => length))).toBeLessThan(accounts.length / 3);
  expect(await askedEach(5 * MINUTE)).toEqual([first, ...later]);
});

test('a reading with its mode spends a weight of 22, as the venue counts it', async () => {
  server = await serveAnswers((asked) => ({
    body: typeOf(asked) === 'userAbstraction' ? '"default"' : STATE,
  }));
  let spent = 0;
  const weight = { tryTake: () => true, take: async () => ++spent > 0 };
  await createPerpReader(server.url, weight).read(account(1), new AbortController().signal);
  expect(spent).toBe(22);
});

test('a reading that a stop interrupts returns nothing, no failure either', async () => {
  const stop = new AbortController();
  server = await serveAnswers(() => {
    stop.abort();
    return null;
  });
  expect(await createPerpReader(server.url, createBucket(1e6, 1e6)).read(account(1), stop.signal)).toBeNull();
});

describe('1,000 accounts at a venue', () => {
  const MOST_A_MINUTE = 1_200;
  const accounts = Array.from({ length: 1_000 }, (_, n) => ({
    ...account(n),
    remoteAccount: '00'.repeat(12) + (n + 1).toString(16).padStart(40, '0'),
  }));
  const store = { ...pollOptions({}, {}).store, query: async () => accounts as never[] };

  /** A budget with the reader's own numbers whose clock advances as it is asked; notes when it was spent. */
  function quickBudget() {
    let now = 0;
    const bucket = createBucket(WEIGHT_PER_SECOND, WEIGHT_BURST, () => now);
    const spentAt: number[] = [];
    const take = async () => {
      while (!bucket.tryTake()) now += 50;
      spentAt.push(now);
      return true;
    };
    return { spentAt, weight: { take, tryTake: bucket.tryTake } };
  }

  test('are all read within the weight that the venue allows in any minute, and no slower', async () => {
    const { spentAt, weight } = quickBudget();
    server = await serveAnswers((asked) => ({
      body: typeOf(asked) === 'userAbstraction' ? '"default"' : STATE,
    }));
    const log = captureLog();
    const { signal } = new AbortController();
    const config = pollOptions({ PERP_VENUE_URL: server.url }, {}).config;
    const round = remoteAccountsRound('perp', { config, store, signal }, (url) =>
      createPerpReader(url, weight),
    );
    // The clock stands, so that they are in one round however long their requests take.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    onTestFinished(() => clock.mockRestore());
    await round((records) => log.append(records)).finally(() => clock.mockRestore());
    const answered = log
      .readings()
      .flatMap((one) => (one.type === 'venue_account' ? [one.venueAccount] : []));
    expect(new Set(answered).size).toBe(1_000);
    expect(spentAt).toHaveLength(22 * 1_000);
    let first = 0;
    spentAt.forEach((at, n) => {
      while ((spentAt[first] as number) <= at - 60_000) first += 1;
      if (n - first + 1 > MOST_A_MINUTE) throw new Error(`${n - first + 1} in the minute before ${at} ms`);
    });
    // The time that the budget needs for them, and no more.
    expect(spentAt.at(-1)).toBeLessThanOrEqual(
      ((22 * 1_000 - WEIGHT_BURST) / WEIGHT_PER_SECOND) * 1_000 + 1_000,
    );
  });

  test('accounts that are no addresses of the venue are recorded once a day, in one batch, without a request', async () => {
    let asked = 0;
    const zeros = accounts.map((one) => ({ ...one, remoteAccount: '00'.repeat(32) }));
    const { signal } = new AbortController();
    const { config } = pollOptions({ PERP_VENUE_URL: 'http://venue.example' }, {});
    const every = { ...store, query: async () => [...zeros] as never[] };
    const weight = { tryTake: () => true, take: async () => ++asked > 0 };
    const round = remoteAccountsRound('perp', { config, store: every, signal }, (url) =>
      createPerpReader(url, weight),
    );
    const log = captureLog();
    let appends = 0;
    const emit = (records: readonly LogRecord[]) => {
      appends += 1;
      return log.append(records);
    };
    await expect(round(() => Promise.reject(new Error('no log')))).rejects.toThrow('no log');
    for (let n = 0; n < 3; n += 1) await round(emit);
    expect([appends, log.records.length, asked]).toEqual([1, 1_000, 0]);
    // Another account in its place is a new reading.
    zeros[7] = { ...zeros[7], remoteAccount: 'ff'.repeat(32) } as (typeof zeros)[number];
    await round(emit);
    expect([appends, log.records.length]).toEqual([2, 1_001]);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 86_400_001);
    await round(emit);
    clock.mockRestore();
    expect([appends, log.records.length]).toEqual([3, 2_001]);
  });

  test('accounts of one policy are read in turns and hold up no account of other policies in any round', async () => {
    let now = 1_000_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const many = accounts.map((one) => ({ ...one, policy: 'of many' }));
    const others = [1, 2, 3].map((n) => ({ ...account(n), address: `z ${n}`, policy: `of one ${n}` }));
    const asked: string[] = [];
    const reader = {
      read: async ({ address }: { address: string }) => {
        now += 1_000;
        asked.push(address);
        return { records: [], failure: null, asked: true };
      },
    };
    const { signal } = new AbortController();
    const config = pollOptions({ PERP_VENUE_URL: 'http://venue.example' }, {}).config;
    const every = { ...store, query: async () => [...many, ...others] as never[] };
    const round = remoteAccountsRound('perp', { config, store: every, signal }, () => reader);
    const ofMany: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      await round(async () => {});
      const own = asked.splice(0);
      expect(own).toEqual(expect.arrayContaining(others.map(({ address }) => address)));
      expect(own.length).toBeLessThan(40);
      ofMany.push(...own.filter((address) => !address.startsWith('z')));
    }
    clock.mockRestore();
    expect(new Set(ofMany).size).toBe(ofMany.length);
  });

  test.each([3, 150])('1,000 accounts never attested do not crowd out %i attested ones', async (count) => {
    let now = 1_000_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const attested = Array.from({ length: count }, (_, n) => ({
      ...{ ...account(n), address: `z ${n}`, policy: `of one ${n}`, attested: 1 },
    }));
    const weights = new Map<string, number>();
    const asked: string[] = [];
    const reader = {
      read: async ({ address }: { address: string }) => {
        // The venue's weights: twenty for a new account's mode, two for its state.
        now += ((weights.get(address) ?? 22) / WEIGHT_PER_SECOND) * 1_000;
        weights.set(address, 2);
        asked.push(address);
        return { records: [], failure: null, asked: true };
      },
    };
    const { signal } = new AbortController();
    const { config } = pollOptions({ PERP_VENUE_URL: 'http://venue.example' }, {});
    const every = { ...store, query: async () => [...accounts, ...attested] as never[] };
    const round = remoteAccountsRound('perp', { config, store: every, signal }, () => reader);
    // Until each account was asked for once.
    while (attested.some(({ address }) => !weights.has(address))) {
      await round(async () => {});
      expect(asked.splice(0).filter((address) => address.startsWith('z'))).not.toEqual([]);
    }
    for (let n = 0; n < 5; n += 1) {
      await round(async () => {});
      const own = asked.splice(0);
      expect(own).toEqual(expect.arrayContaining(attested.map(({ address }) => address)));
      expect(own.length).toBeGreaterThan(count);
    }
    clock.mockRestore();
  });

  test('after a round that broke off the next one begins with the accounts not asked for yet', async () => {
    const asked: string[] = [];
    let isDown = false;
    const reader = {
      read: async ({ address }: { address: string }) => {
        asked.push(address);
        isDown = asked.length > 300 && asked.length < 310;
        const failure = isDown ? { error: 'answered 502', retryAfterMs: null, onlyThisAccount: false } : null;
        return { records: [], failure, asked: true };
      },
    };
    const { signal } = new AbortController();
    const config = pollOptions({ PERP_VENUE_URL: 'http://venue.example' }, {}).config;
    const round = remoteAccountsRound('perp', { config, store, signal }, () => reader);
    await round(async () => {});
    const first = asked.splice(0);
    expect(first.length).toBeLessThan(310);
    await round(async () => {});
    const next = asked.slice(0, 1_000 - first.length);
    expect(next.filter((one) => first.includes(one))).toEqual([]);
  });
});
