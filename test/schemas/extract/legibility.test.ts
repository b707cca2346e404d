import { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc';
import bs58 from 'bs58';
import { describe, expect, test } from 'vitest';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { legibility, namedAccounts } from '../../../schemas/transaction/legibility.ts';
import { toGeyser, toJson } from '../support/encode-transaction.ts';
import { run } from '../support/run.ts';

const key = (fill: number) => new Uint8Array(32).fill(fill);
const tx = run([
  {
    program: key(1),
    accounts: [11, 12, 13, 14].map((fill, at) => ({ address: key(fill), writable: at % 2 === 0 })),
  },
]);
const NAMED = [1, 11, 12, 13, 14, 251].map((fill) => encodeBase58(key(fill))).sort();

type Format = 'geyser' | 'json';
const told = (format: Format, payload: Uint8Array) =>
  namedAccounts({ format, payload })?.map(encodeBase58).sort() ?? null;

/** The parts of either format that tests change. */
interface Changed {
  transaction: { message: { instructions: { programIdIndex: number }[]; addressTableLookups?: unknown } };
  meta?: unknown;
}

function changed(format: Format, lookups: boolean, change: (value: Changed) => void): Uint8Array {
  if (format === 'json') {
    const value = JSON.parse(Buffer.from(toJson(tx, lookups)).toString());
    change(value);
    return Buffer.from(JSON.stringify(value));
  }
  const value = SubscribeUpdateTransactionInfo.decode(toGeyser(tx, lookups));
  change(value as unknown as Changed);
  return SubscribeUpdateTransactionInfo.encode(value).finish();
}

describe.each(['geyser', 'json'] as const)('the legibility of a transaction (%s)', (format) => {
  const encode = format === 'geyser' ? toGeyser : toJson;

  test.each([false, true])(
    'a transaction that can be read names all of its accounts (lookup tables: %s)',
    (lookups) => {
      const payload = encode(tx, lookups);
      expect(legibility({ format, payload })).toBe('whole');
      expect(told(format, payload)).toEqual(NAMED);
    },
  );

  test('a transaction without its meta still names its accounts, unless it uses lookup tables', () => {
    const payload = changed(format, false, (value) => delete value.meta);
    expect(legibility({ format, payload })).toBe('accounts');
    expect(told(format, payload)).toEqual(NAMED);

    const looked = changed(format, true, (value) => {
      delete value.meta;
      value.transaction.message.addressTableLookups = [
        { accountKey: key(9), writableIndexes: indexes(0), readonlyIndexes: indexes(1) },
      ];
    });
    expect(legibility({ format, payload: looked })).toBe('none');
  });

  test('a transaction with a call of an account index that does not exist still names its accounts', () => {
    const payload = changed(format, false, ({ transaction }) => {
      for (const call of transaction.message.instructions) call.programIdIndex = 200;
    });
    expect(legibility({ format, payload })).toBe('accounts');
    expect(told(format, payload)).toEqual(NAMED);
  });

  test.each([
    ['no bytes', new Uint8Array(0)],
    ['invalid bytes', Uint8Array.of(0x0a, 0xff, 0xff, 0x03, 0x01)],
    ['JSON of another shape', Buffer.from('{"transaction":{}}')],
  ])('a payload of %s names no accounts', (_, payload) => {
    expect(legibility({ format, payload })).toBe('none');
  });

  function indexes(at: number): unknown {
    return format === 'json' ? [at] : Uint8Array.of(at);
  }
});

describe('a transaction whose calls have much data (json)', () => {
  const of = (calls: number, data: string) => {
    const value = JSON.parse(Buffer.from(toJson(tx, false)).toString());
    const call = { programIdIndex: 1, accounts: [2], data, stackHeight: 2 };
    value.meta.innerInstructions = [{ index: 0, instructions: Array.from({ length: calls }, () => call) }];
    return Buffer.from(JSON.stringify(value));
  };

  test('of the largest possible size is read in under a tenth of the time that bs58 takes to decode it', () => {
    const CALLS = 62;
    const data = encodeBase58(new Uint8Array(10_240).fill(255));
    const payload = of(CALLS, data);
    const spent = (work: () => unknown) => {
      const began = process.cpuUsage();
      work();
      return process.cpuUsage(began).user;
    };
    const read = () => spent(() => expect(legibility({ format: 'json', payload })).toBe('whole'));
    // Compared with other work on the same machine, however slow that is.
    const plain = () => spent(() => bs58.decode(data));
    expect(Math.min(read(), read(), read())).toBeLessThan((CALLS * Math.min(plain(), plain(), plain())) / 10);
  });

  test('of a size beyond any transaction is not read, and still names its accounts', () => {
    expect(legibility({ format: 'json', payload: of(64, '2'.repeat(13_985)) })).toBe('whole');
    expect(legibility({ format: 'json', payload: of(80, '2'.repeat(13_985)) })).toBe('accounts');
  });
});
