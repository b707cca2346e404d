import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../schemas/malformed.ts';
import { type EventKind, mustHaveEventFields } from '../../schemas/program/event-kinds.ts';
import { actorOf, amountsOf, decodeEvent, eventKind, summaryOf } from '../../schemas/program/events.ts';
import { EVENTS, fieldsOf, type IdlField } from '../../schemas/program/idl.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { anyEvent, anyStruct, SEED } from './support/arbitraries.ts';
import { discriminator, type KitValue, kitEncode } from './support/kit-codecs.ts';

const NAMES = [...EVENTS.values()];
const KEY = encodeBase58(new Uint8Array(32).fill(9));
const OF = { policy: KEY, mint: KEY, quoteMint: KEY };

const event = (name: string, fields: KitValue) => decodeEvent(kitEncode(name, { ...OF, ...fields }));

/** The names of enum values, by field: kit writes their numbers. */
const NAMES_OF: Record<string, readonly string[]> = {
  mode: ['Passive', 'Agent'],
  kind: ['Local', 'Remote'],
  by: ['authority', 'guardian', 'attestation'],
};

function asServed([key, value]: [string, unknown]): [string, unknown] {
  return [key, value instanceof Uint8Array ? encodeBase58(value) : value];
}

test('every kind of event decodes to the values that kit encoded', () => {
  fc.assert(
    fc.property(anyEvent, ({ name, fields }) => {
      const read = decodeEvent(kitEncode(name, fields));
      const all = Object.fromEntries(Object.entries({ ...read.of, ...read.fields }).map(asServed));
      const expected = Object.entries(fields).map(([key, value]) =>
        asServed([key, NAMES_OF[key]?.[value as number] ?? value]),
      );
      expect(read.event).toBe(name);
      expect(all).toEqual(Object.fromEntries(expected));
    }),
    { seed: SEED, numRuns: 2000 },
  );
});

test('every kind of event has an actor, amounts, and a summary without the policy, its mint and quote mint', () => {
  for (const name of NAMES) {
    const [fields] = fc.sample(anyStruct(name), { seed: SEED, numRuns: 1 }) as [KitValue];
    const read = decodeEvent(kitEncode(name, fields));
    expect(actorOf(read)).toMatch(/^(authority|keeper|agent|reporter|guardian|admin)$/);
    expect(Object.keys(summaryOf(read)).filter((key) => key in OF)).toEqual([]);
    for (const amount of Object.values(amountsOf(read))) expect(amount).toBeTypeOf('bigint');
  }
});

describe('the summary of an event', () => {
  test('shows only the fields that the specification lists, for a kind that it lists', () => {
    const init = { authority: KEY, agent: KEY, originId: 2, modelId: 3, mode: 1 };
    expect(summaryOf(event('PolicyInitialised', init))).toEqual({ mode: 'Agent' });
    const registered = { tokenAccount: KEY, assetMint: KEY, kind: 1, assetClass: 16 };
    expect(summaryOf(event('VenueRegistered', registered))).toEqual({ kind: 'Remote', tokenAccount: KEY });
    const routed = { amount: 10n, protocolCut: 1n, toLp: 3n, toBankroll: 6n };
    expect(summaryOf(event('Routed', routed))).toEqual({ toLp: '3', toBankroll: '6' });
    expect(summaryOf(event('PassiveDeployed', { tokenAccount: KEY, amount: 4n }))).toEqual({ amount: '4' });
    const swept = { equity: 9n, profit: 8n, toLp: 2n, toHolders: 3n, hwm: 4n };
    expect(summaryOf(event('ProfitSwept', swept))).toEqual({ toLp: '2', profit: '8', toHolders: '3' });
    expect(summaryOf(event('BuybackBurned', { spent: 5n, burned: 7n }))).toEqual({ spent: '5', burned: '7' });
    const claimed = { quoteAmount: 5n, baseAmount: 0n };
    expect(summaryOf(event('FeesClaimed', claimed))).toEqual({ quoteAmount: '5', baseAmount: '0' });
  });

  test('shows every field of other kinds: keys as base58, amounts as text, times as ISO 8601, enums by name', () => {
    const report = {
      tokenAccount: KEY,
      equity: 2n ** 64n - 1n,
      notional: 0n,
      asof: 1_790_000_000n,
      paused: true,
    };
    expect(summaryOf(event('RemoteEquityReported', report))).toEqual({
      tokenAccount: KEY,
      equity: '18446744073709551615',
      notional: '0',
      asof: '2026-09-21T14:13:20.000Z',
      paused: true,
    });
    expect(summaryOf(event('PolicyPaused', { paused: false, by: 1 }))).toEqual({
      paused: false,
      by: 'guardian',
    });
    expect(summaryOf(event('PolicyLocked', {}))).toEqual({});
  });
});

test('the actor of a pause is what `by` names: authority, guardian, or the reporter for an attestation', () => {
  const by = [0, 1, 2].map((who) => actorOf(event('PolicyPaused', { paused: true, by: who })));
  expect(by).toEqual(['authority', 'guardian', 'reporter']);
});

test('the amounts of an event fill the columns a to d of the events table in order, the rest with 0', () => {
  const routed = { amount: 10n, protocolCut: 1n, toLp: 3n, toBankroll: 6n };
  expect(amountsOf(event('Routed', routed))).toEqual({ a: 10n, b: 1n, c: 3n, d: 6n });
  const swept = { equity: 9n, profit: 8n, toLp: 2n, toHolders: 3n, hwm: 4n };
  expect(amountsOf(event('ProfitSwept', swept))).toEqual({ a: 8n, b: 2n, c: 3n, d: 0n });
  expect(amountsOf(event('BuybackBurned', { spent: 5n, burned: 7n }))).toEqual({
    a: 5n,
    b: 7n,
    c: 0n,
    d: 0n,
  });
});

describe('an event is malformed', () => {
  test('when its bytes end early, whatever its kind', () => {
    for (const name of NAMES) {
      const [fields] = fc.sample(anyStruct(name), { seed: SEED, numRuns: 1 }) as [KitValue];
      const bytes = kitEncode(name, fields);
      for (let length = 0; length < bytes.length; length += 1)
        expect(() => decodeEvent(bytes.subarray(0, length)), name).toThrow(MalformedError);
    }
  });

  test('when its discriminator differs in any byte from that of an event, or is that of an account', () => {
    const known = kitEncode('PolicyPaused', { ...OF, paused: true, by: 0 });
    expect(eventKind(known)).toBe('PolicyPaused');
    const own = discriminator('PolicyPaused');
    const others = [...own.keys()].map((place) => own.map((byte, at) => (at === place ? byte ^ 1 : byte)));
    for (const other of [...others, discriminator('Policy')]) {
      const bytes = Uint8Array.from([...other, ...known.subarray(own.length)]);
      expect(eventKind(bytes)).toBeNull();
      expect(() => decodeEvent(bytes)).toThrow(new MalformedError('event', 'unknown discriminator'));
    }
  });

  const registered = { tokenAccount: KEY, assetMint: KEY, kind: 0, assetClass: 1 };
  const initialised = { authority: KEY, agent: KEY, originId: 2, modelId: 3, mode: 0 };
  test.each<[string, KitValue, string]>([
    ['PolicyInitialised', { ...initialised, mode: 2 }, 'PolicyInitialised.mode: 2 is out of range'],
    ['PolicyPaused', { paused: true, by: 3 }, 'PolicyPaused.by: 3 is out of range'],
    ['VenueRegistered', { ...registered, kind: 2 }, 'VenueRegistered.kind: 2 is out of range'],
    ['VenueRegistered', { ...registered, assetClass: 0 }, 'not one class bit'],
    ['VenueRegistered', { ...registered, assetClass: 5 }, 'not one class bit'],
  ])('when an enum value or asset class of %s is out of range (%#)', (name, fields, reason) => {
    expect(() => event(name, fields)).toThrow(MalformedError);
    expect(() => event(name, fields)).toThrow(reason);
  });
});

describe('the check of the event fields in an IDL', () => {
  const without = (kind: EventKind, lacking: string) => fieldsOf(kind).filter(({ name }) => name !== lacking);

  test.each([
    ['FeesClaimed', 'quote_amount', 'quoteAmount'],
    ['ProfitSwept', 'profit', 'profit'],
    ['PolicyInitialised', 'mode', 'mode'],
    ['VenueRegistered', 'asset_class', 'assetClass'],
    ['RemoteEquityReported', 'paused', 'paused'],
    ['PolicyPaused', 'by', 'by'],
  ] as const)('refuses an IDL whose %s lacks %s', (kind, lacking, name) => {
    expect(() => mustHaveEventFields(kind, fieldsOf(kind))).not.toThrow();
    expect(() => mustHaveEventFields(kind, without(kind, lacking))).toThrow(
      `the IDL's event ${kind} lacks ${name}`,
    );
  });

  test('refuses an IDL with an amount field of another type than u64', () => {
    const other: IdlField[] = [...without('Routed', 'to_lp'), { name: 'to_lp', type: 'i64' }];
    expect(() => mustHaveEventFields('Routed', other)).toThrow(
      "the IDL's event Routed has toLp of another type than u64",
    );
  });
});
