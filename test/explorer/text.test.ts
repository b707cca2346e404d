import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { grouped, scaled, shares, short, writtenOut } from '../../api/explorer/browser/text/amounts.ts';
import {
  AMOUNTS,
  fieldsOf as fieldsTold,
  KINDS,
  partsOf,
  told,
} from '../../api/explorer/browser/text/events.ts';
import { meaningOf } from '../../api/explorer/browser/text/meanings.ts';
import { ago, span } from '../../api/explorer/browser/text/times.ts';
import { lettersOf, plainText, shortened, visibleParts } from '../../api/explorer/browser/text/visible.ts';
import {
  classNames,
  namedAlike,
  percent,
  readable,
  symbolOf,
} from '../../api/explorer/browser/text/words.ts';
import { CLASS_BITS } from '../../schemas/program/asset-classes.ts';
import type { EventKind, PolicyEventKind } from '../../schemas/program/event-kinds.ts';
import { summaryOf } from '../../schemas/program/events.ts';
import { camelCase, EVENTS, fieldsOf } from '../../schemas/program/idl.ts';
import type { FieldValue } from '../../schemas/program/struct.ts';
import { parseDecimal } from '../../schemas/units.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

describe('amounts', () => {
  test('are scaled exactly, whatever their size', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 128n), max: 2n ** 128n }),
        fc.integer({ min: 0, max: 18 }),
        (base, decimals) => {
          const { digits, scale } = parseDecimal(scaled(base.toString(), decimals)) ?? {
            digits: 0n,
            scale: 0,
          };
          expect(digits * 10n ** BigInt(decimals - scale)).toBe(base);
        },
      ),
      { seed: SEED },
    );
    expect(scaled('1', 9)).toBe('0.000000001');
    expect(scaled('1500000', 6)).toBe('1.5');
    expect(scaled('-5', 1)).toBe('-0.5');
    expect(scaled('7', 0)).toBe('7');
  });

  test('are truncated if long, never rounded up, and only zero is shown as zero', () => {
    expect(short('999999.999999')).toBe('999,999.99');
    expect(short('1999999.9')).toBe('1.99M');
    expect(short('0.00000012345')).toBe('0.000000123');
    expect(short('12.340000')).toBe('12.34');
    expect(short('-1234567890')).toBe('−1.23B');
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 64n }),
        fc.integer({ min: 0, max: 18 }),
        (base, decimals) => {
          expect(short(scaled(base.toString(), decimals))).toMatch(/[1-9]/);
        },
      ),
      { seed: SEED },
    );
    expect(short('0')).toBe('0');
  });

  test('have a power of ten if they are very large or small, and take at most 12 characters', () => {
    expect(short('18446744073709551615')).toBe('18,446.74Q');
    expect(short('340282366920938463463374607431768211455')).toBe('3.4×10³⁸');
    expect(short('1000000000000000000000')).toBe('1×10²¹');
    expect(short('0.000000001')).toBe('1×10⁻⁹');
    expect(short('-0.000000000000000000129')).toBe('−1.29×10⁻¹⁹');
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 128n }),
        fc.integer({ min: 0, max: 18 }),
        (base, decimals) => {
          expect(short(scaled(base.toString(), decimals)).length).toBeLessThanOrEqual(12);
        },
      ),
      { seed: SEED },
    );
  });

  test('are grouped in threes, and a text that is not a number is left unchanged', () => {
    expect(grouped('18446744073709551615')).toBe('18,446,744,073,709,551,615');
    expect(grouped('1234.5678')).toBe('1,234.5678');
    expect(grouped('n/a')).toBe('n/a');
  });

  test('are written out in full if a source gives them with an exponent', () => {
    expect(['1e-7', '1.25e-9', '-2.5e+3', '1.25e1', '12e21', '0.9998', 'n/a'].map(writtenOut)).toEqual([
      ...['0.0000001', '0.00000000125', '-2500', '12.5', '12000000000000000000000', '0.9998', 'n/a'],
    ]);
  });

  test('divide a bar only if all are known and their sum is not zero', () => {
    expect(shares(['1', '3'])).toEqual([250, 750]);
    expect(shares(['1', null])).toBeNull();
    expect(shares(['0', '0'])).toBeNull();
  });
});

test('a reason is shown with shortened keys, and with times as the pages write them', () => {
  const key = 'ELq4F7kbRh2h6L4wiyZ9DXC3b71XDEqGnwBpz6B33JGv';
  expect(readable(`${key} is not known before 2026-11-24T02:12:36.000Z`)).toBe(
    'ELq4…3JGv is not known before 2026-11-24 02:12:36 UTC',
  );
  expect(readable('6 of 7 balances are known')).toBe('6 of 7 balances are known');
});

describe('text written by strangers', () => {
  test.each([
    ['\u202Egnp.exe', 'U+202E'],
    ['a\u200Bb', 'U+200B'],
    ['a\u0000b', 'U+0000'],
    ['a\u2066b\u2069', 'U+2066'],
    ['a\u{E0041}', 'U+E0041'],
    ['a\uFEFF', 'U+FEFF'],
    ['a\u3164', 'U+3164'],
    ['tab\there', 'U+0009'],
  ])('%j is shown with the names of its invisible characters', (text, name) => {
    expect(
      visibleParts(text)
        .filter((part) => part.hidden)
        .map((part) => part.text),
    ).toContain(name);
    expect(plainText(text)).toContain(`‹${name}›`);
  });

  test('is left unchanged in any script if all of it is visible', () => {
    for (const text of ['猫 Ünïcode', 'שלום', 'two\nlines', '<b onclick=x>&amp;</b>', '👩🏽'])
      expect(visibleParts(text)).toEqual([{ text, hidden: false }]);
  });

  test('has adjacent invisible characters in one part', () => {
    expect(visibleParts('a\u202E\u0003b')).toEqual([
      { text: 'a', hidden: false },
      { text: 'U+202E U+0003', hidden: true },
      { text: 'b', hidden: false },
    ]);
    expect(visibleParts('\u0003'.repeat(10_000))).toHaveLength(1);
  });

  test('is cut in a list after 80 whole characters, and only if it is longer', () => {
    const most = '👩'.repeat(80);
    expect([shortened('猫'), shortened(most), shortened(`${most}s`)]).toEqual(['猫', most, `${most}…`]);
    expect(shortened('\u0003'.repeat(10_000))).toBe(`${'\u0003'.repeat(80)}…`);
  });

  test('keeps only a few combining marks on one character', () => {
    expect(plainText(`a${'\u0301'.repeat(50)}`).length).toBeLessThan(6);
  });

  test('is at most ten characters long as a symbol behind an amount', () => {
    expect([symbolOf('TENLETTERS', 'x'), symbolOf('猫', 'x')]).toEqual(['TENLETTERS', '猫']);
    expect(symbolOf('A SYMBOL WITH A STORY', 'x')).toBe('A SYMBOL …');
    expect(symbolOf('\u202Egnp.exe', 'x')).toBe('‹U+202E›g…');
    expect(symbolOf('👩🏽'.repeat(20), 'x')).toMatch(/^(👩🏽){4}👩…$/u);
    expect(symbolOf(null, 'MintOfIt')).toBe('Mint…');
  });

  test('that gives two quote assets the same shown symbol is detected, in any case and after cutting', () => {
    const quotes = [
      ['SPYX', 'one'],
      ['SPYX', 'one'],
      ['spyx', 'other'],
      ['A SYMBOL WITH A STORY', 'third'],
      ['A SYMBOL FOR SHOW', 'fourth'],
      ['USDX', 'alone'],
      [null, 'Mint of it'],
    ] as const;
    const alike = namedAlike(quotes.map(([quoteSymbol, quoteMint]) => ({ quoteSymbol, quoteMint })));
    expect([...alike].sort()).toEqual(['fourth', 'one', 'other', 'third']);
  });

  test('gives two letters to a token without a picture', () => {
    expect([lettersOf('moon9', 'x'), lettersOf('\u202E!', 'qZ1'), lettersOf(null, 'ab')]).toEqual([
      'MO',
      'QZ',
      'AB',
    ]);
  });
});

/** Texts of events whose keys and names are their field names, and whose amounts are their fields' positions. */
const TOLD: Record<PolicyEventKind, string> = {
  PolicyInitialised: 'Policy created: in mode mode',
  VenueRegistered: 'Venue registered: kind account tokenAccount',
  VenueRevoked: 'Venue revoked: account tokenAccount',
  FeesClaimed: 'Fees claimed: 4 Q and 5 B',
  Routed: 'Fees routed: 7 Q to the bankroll, 6 Q to liquidity',
  PassiveDeployed: 'Deployed: 5 Q to a venue account',
  AgentFundedVenue: 'Agent funded a venue: 5 Q to tokenAccount',
  ProfitSwept: 'Profit swept: 5 Q: 7 Q to buybacks, 6 Q to liquidity',
  BuybackBurned: 'Bought back and burned: 5 B for 4 Q',
  BaseLegBurned: 'Base leg burned: 4 B',
  RemoteEquityReported: 'Equity attested: 5 Q at tokenAccount; too far from the last: paused',
  CreditNoted: 'Inference paid: 4 Q',
  AgentSet: 'Agent changed: oldAgent to newAgent',
  PolicyUpdated: 'Terms changed: by the authority',
  PolicyLocked: 'Terms locked: for good',
  PolicyPaused: 'Pause: paused by by',
};

describe('words', () => {
  test('every event kind of a policy has a title other than its name, an unknown kind has its name', () => {
    const units = { quote: { decimals: 6, symbol: 'USDX' }, base: { decimals: null, symbol: null } };
    for (const kind of new Set(EVENTS.values()))
      if (kind !== 'ProtocolPaused') expect(told(kind, {}, units).title, kind).not.toBe(kind);
    const { text } = told('BuybackBurned', { spent: '1500000', burned: '7' }, units);
    expect(partsOf(text)).toEqual(['7 base units for 1.5 ', 'USDX', '']);
    expect(told('Unheard', { some: 1 }, units)).toEqual({ title: 'Unheard', tone: 'terms', text: 'some 1' });
    for (const kind of ['constructor', '__proto__', 'toString'])
      expect(told(kind, { some: 1 }, units)).toMatchObject({ tone: 'terms', text: 'some 1' });
  });

  test.each(Object.entries(TOLD))('%s is described with each field in its place', (kind, sentence) => {
    const fields = fieldsOf(kind).map(({ name, type }, at): [string, string | boolean] => {
      if (type === 'u64') return [camelCase(name), `${at + 1}000000`];
      return [camelCase(name), type === 'bool' || camelCase(name)];
    });
    const units = { quote: { decimals: 6, symbol: 'Q' }, base: { decimals: 6, symbol: 'B' } };
    const { title, text } = told(kind, Object.fromEntries(fields), units);
    expect(`${title}: ${partsOf(text).join('')}`).toBe(sentence);
  });

  test.each([...KINDS, 'Unheard'])(
    'names chosen by strangers are separate parts of the text of a %s, without its numbers',
    (kind) => {
      // Names in a right-to-left script.
      const named = (name: string) => `אבג ${name}`;
      const fields = kind === 'Unheard' ? [{ name: 'note', type: 'string' }] : fieldsOf(kind);
      const summary = fields.map(({ name, type }): [string, string | boolean] => {
        if (type === 'string') return [camelCase(name), named(name)];
        return [camelCase(name), type === 'bool' || '1000000'];
      });
      const units = {
        ...{ quote: { decimals: 6, symbol: named('Q') }, base: { decimals: 6, symbol: named('B') } },
      };
      const { text } = told(kind, Object.fromEntries(summary), units);
      const [outside, apart] = [0, 1].map((odd) => partsOf(text).filter((_, at) => at % 2 === odd));
      expect(outside?.join()).not.toMatch(/[א-ת]/);
      for (const part of apart ?? []) expect(part).toMatch(/^אבג \D+$/);
      expect(outside?.length, 'marks on both sides').toBe((apart?.length ?? 0) + 1);
    },
  );

  test('the text of an event uses only fields that its summary has', () => {
    const of: Record<string, FieldValue> = {
      pubkey: new Uint8Array(32),
      string: '',
      bool: true,
      i64: 1n,
      u64: 1n,
    };
    for (const kind of KINDS) {
      const fields = Object.fromEntries(
        fieldsOf(kind).map(({ name, type }) => [camelCase(name), of[String(type)] ?? 1]),
      );
      const summary = summaryOf({ event: kind as EventKind, fields });
      const asked = new Set<string>();
      const listening = new Proxy(summary, {
        get: (from, name) => {
          asked.add(String(name));
          return Reflect.get(from, name);
        },
      });
      told(kind, listening, { quote: { decimals: 6, symbol: null }, base: { decimals: 6, symbol: null } });
      expect(Object.keys(summary), kind).toEqual(expect.arrayContaining([...asked]));
    }
  });

  test('the list of an event’s fields shows exactly the u64 fields as amounts with units', () => {
    const amounts = KINDS.flatMap((kind) => fieldsOf(kind))
      .filter(({ type }) => type === 'u64')
      .map(({ name }) => camelCase(name));
    expect(Object.keys(AMOUNTS).sort()).toEqual([...new Set(amounts)].sort());
    const units = { quote: { decimals: 6, symbol: 'USDX' }, base: { decimals: null, symbol: null } };
    expect(fieldsTold({ spent: '1234500000', burned: '7', paused: true, profit: null }, units)).toEqual([
      ['spent', '1,234.5 USDX (1,234,500,000 base units)'],
      ['burned', '7 base units'],
      ['paused', 'yes'],
      ['profit', '?'],
    ]);
    expect(fieldsTold({ asof: '2026-11-23T20:32:52.000Z', hwm: '1', constructor: 'x' }, units)).toEqual([
      ['Reporter’s time', '2026-11-23 20:32:52 UTC'],
      ['High water mark', '0.000001 USDX (1 base units)'],
      ['constructor', 'x'],
    ]);
  });

  test('ages, percentages and asset classes are written for readers', () => {
    const at = Date.parse('2026-01-02T00:00:00.000Z');
    expect(ago('2026-01-01T22:58:00.000Z', at)).toBe('1 h 2 min ago');
    expect(ago('2026-01-02T00:00:30.000Z', at)).toBe('30 s ahead of this clock');
    expect(ago('2025-12-01T00:00:00.000Z', at)).toBe('32 d ago');
    expect(span(0)).toBe('0 s');
    expect([percent(500), percent(9644), percent(10)]).toEqual(['5%', '96.44%', '0.1%']);
    expect(classNames(17)).toEqual(['Stable', 'Perp']);
    expect(classNames(CLASS_BITS.SOL_MEME | CLASS_BITS.LP | 128)).toEqual(['Meme', 'LP', 'Class 128']);
    // Names are by the position of the bit.
    expect(Object.values(CLASS_BITS)).toEqual(Object.keys(CLASS_BITS).map((_, bit) => 1 << bit));
  });

  test('the meaning of a figure is found by its name, also with a day after it', () => {
    expect(meaningOf('Profit above the mark, 2026-01-02')).toBe(meaningOf('Profit above the mark'));
    expect(meaningOf('Profit above the mark')).toMatch(/stays at work/);
    // Holders of the token are not paid.
    expect(meaningOf('Profit swept')).not.toMatch(/to holders/);
    expect(meaningOf('Profit: Buybacks')).toMatch(/buys the token back/);
    expect(meaningOf('Profit swept')).not.toBe(meaningOf('Profit above the mark'));
    expect(meaningOf('Bankroll, unspent')).toMatch(/vault/);
    expect(meaningOf('Policies')).toBeNull();
  });
});
