import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mintData } from '../../../devnet/bytes/mint.ts';
import { createAccountReader } from '../../../ingest/accounts/account-reader.ts';
import { readAccount } from '../../../ingest/materialise/rows/account.ts';
import { readStates } from '../../../ingest/materialise/rows/read-states.ts';
import { createFollowed } from '../../../ingest/stream/followed-stream/followed.ts';
import { createRota } from '../../../ingest/stream/followed-stream/rota.ts';
import { createFollowedAddresses } from '../../../ingest/stream/following/addresses.ts';
import { Slots } from '../../../ingest/stream/slots/machine.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { ReadOptions, Rpc } from '../../../runtime/rpc/rpc.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { TOKEN_2022_PROGRAM } from '../../../schemas/solana/token.ts';
import { awaited } from '../../support/awaited.ts';
import { policyBytes, tokenBytes } from '../materialise/support/accounts.ts';
import { account, key, PROGRAM, rawKey } from '../materialise/support/records.ts';

let stop = new AbortController();
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

const never = () => {
  throw new Error('nothing is streamed here');
};

/**
 * Followed addresses with their turns, as in ingest; counts how often all named ones were gone through.
 * @param found what each turn finds
 */
function stage(found: () => AccountRecord[] = () => []) {
  const seen = { gone: 0, read: new Set<string>(), lost: [] as string[], sent: [] as bigint[] };
  let onNamed = (_address: string, _isNamed: boolean) => {};
  const following = createFollowedAddresses(PROGRAM, rawKey('launchpad'), (...named) => onNamed(...named));
  const followed = createFollowed({
    client: { subscribe: never, renew: never } as never,
    ...{ slots: new Slots('confirmed', 10n), commitment: 'confirmed', programId: PROGRAM },
    ...{ position: { slot: 10n, followed: 10n }, lost: [], expectedAt: following.expectedAt },
    addresses: following.streamed,
    named: () => {
      seen.gone += 1;
      return following.namedBalances();
    },
    reader: {
      read: async (addresses: readonly string[]) => {
        for (const address of addresses) seen.read.add(address);
        return found();
      },
    } as never,
    ...{ read: never, reread: never, handle: never, onUnreadable: never, onFollowed: never },
    learn: (record) => followed.told(record),
    send: async (records: readonly LogRecord[]) => {
      for (const record of records) {
        if (record.kind === 'carried' && !record.carried) seen.lost.push(encodeBase58(record.address));
        if (record.kind === 'account') seen.sent.push(record.slot);
      }
    },
    ...{ rotaMs: 1, logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  onNamed = followed.onNamed;
  return { following, followed, seen };
}

test('1,000 balances named by strangers join the rota one by one, without going through the whole list each time', async () => {
  const { following, seen } = stage();
  const names = Array.from({ length: 1_000 }, (_, at) => key(`token ${at}`));
  for (const name of names) following.add(name, 'token_account', true);
  // One that turns out to be ours leaves the list before its turn.
  following.add(names[999] as string, 'token_account');
  expect(seen.gone).toBeLessThanOrEqual(2);
  expect(seen.lost).toEqual(names);
  await awaited(() => expect(seen.read.size).toBeGreaterThanOrEqual(999));
  expect(seen.read).toEqual(new Set(names.slice(0, 999)));
});

const TOKENS = decodeKey(TOKEN_2022_PROGRAM) as Uint8Array;
const STRANGER = rawKey('an exchange');
const named = { expected: 'token_account', source: 'rpc' } as const;

describe('an address that a stranger named as a balance', () => {
  const mintOf = (supply: bigint) =>
    mintData({
      ...{ address: key('mint'), program: TOKEN_2022_PROGRAM, decimals: 6, supply },
      metadata: { name: 'Long', symbol: 'LONG', uri: `https://a.example/${'x'.repeat(900)}` },
      ...{ metadataPointer: null, unknownExtension: true },
    });
  const large = Buffer.concat([tokenBytes(7n, { owner: 'o' }), Buffer.from([2]), Buffer.alloc(10_000, 2)]);
  const whole = [
    account('plain', TOKENS, tokenBytes(5n, { owner: 'o' }), named),
    account('large', TOKENS, large, named),
    account('multisig', TOKENS, Buffer.concat([tokenBytes(5n), Buffer.alloc(190, 2)]), named),
    account('mint', TOKENS, mintOf(9n), named),
    account('policy', PROGRAM, policyBytes(), named),
    account('like a policy', STRANGER, policyBytes(), named),
    account('order book', STRANGER, Buffer.alloc(100_000, 1), named),
    account('pool', STRANGER, Buffer.alloc(9_000, 1), { expected: 'pool' }),
    account('ours', TOKENS, large, named),
  ];
  const isOurs = (address: Uint8Array) => ['pool', 'ours'].map(key).includes(encodeBase58(address));
  const at = (address: string | Uint8Array) =>
    whole.find(
      (one) => encodeBase58(one.address) === (typeof address === 'string' ? address : encodeBase58(address)),
    );

  test.each([
    ['keeps to the bound', true],
    ['sends all of it', false],
  ])('is kept with only the bytes that its kind needs, from a node that %s', async (_, keepsTo) => {
    const asked = new Map<string, (number | undefined)[]>();
    let requests = 0;
    const rpc = {
      getMultipleAccounts: async (addresses: readonly string[], { mostBytes }: ReadOptions = {}) => {
        requests += 1;
        for (const address of addresses) asked.set(address, [...(asked.get(address) ?? []), mostBytes]);
        const accounts = addresses.map((address) => {
          const { owner, lamports, data } = at(address) as AccountRecord;
          return { owner, lamports, data: keepsTo ? data.subarray(0, mostBytes) : data };
        });
        return { slot: 10n, accounts };
      },
    };
    const reader = createAccountReader(
      rpc as unknown as Rpc,
      {
        expectedAt: (address) => at(address)?.expected ?? null,
        isNamed: (address) => !isOurs(address),
        programId: PROGRAM,
      },
      async () => null,
    );
    const records = await reader.read(
      whole.map(({ address }) => encodeBase58(address)),
      1n,
    );
    const sizes = (of: readonly AccountRecord[]) =>
      Object.fromEntries(of.map(({ address, data }) => [encodeBase58(address), data.length]));
    expect(sizes(records)).toEqual({
      ...sizes(whole),
      ...Object.fromEntries(['large', 'order book', 'like a policy'].map((name) => [key(name), 512])),
    });
    for (const name of ['plain', 'large', 'multisig', 'mint', 'policy']) {
      const saysOf = (record: AccountRecord | undefined) => {
        try {
          const reading = readAccount(record as AccountRecord, PROGRAM);
          return typeof reading === 'string' ? reading : { table: reading.table, ...reading.columns() };
        } catch (error) {
          return String(error);
        }
      };
      const read = records.find(({ address }) => encodeBase58(address) === key(name));
      expect(saysOf(read), name).toEqual(saysOf(at(key(name))));
    }
    const bounds = Object.fromEntries(
      ['plain', 'large', 'order book', 'like a policy', 'mint', 'policy', 'pool', 'ours'].map((name) => [
        name,
        asked.get(key(name)),
      ]),
    );
    expect(bounds).toEqual({
      ...{ plain: [512], large: [512], 'order book': [512], 'like a policy': [512] },
      ...{ mint: [512, 65_536], policy: [512, 65_536], pool: [undefined], ours: [undefined] },
    });
    const before = requests;
    // With a provider that streams few addresses, hundreds of these are read among pools every half second.
    await reader.read(['pool', 'ours'].map(key), 1n);
    expect(requests - before).toBe(1);
  });

  test('is logged at each change while it is a balance, and otherwise only when its kind changes', async () => {
    const turns = [
      account('a', STRANGER, Buffer.alloc(512, 1), { ...named, slot: 11n }),
      account('a', STRANGER, Buffer.alloc(512, 2), { ...named, slot: 12n }),
      account('a', STRANGER, Buffer.alloc(300, 2), { ...named, slot: 13n, lamports: 9n }),
      account('a', TOKENS, tokenBytes(5n), { ...named, slot: 14n }),
      account('a', TOKENS, tokenBytes(6n), { ...named, slot: 15n }),
      account('a', STRANGER, Buffer.alloc(512, 1), { ...named, slot: 16n }),
      account('a', STRANGER, Buffer.alloc(0), { ...named, slot: 17n }),
      account('a', STRANGER, Buffer.alloc(0), { ...named, slot: 18n, lamports: 0n }),
      // A mint that is not initialised yet does not close the balance.
      account('a', TOKENS, Buffer.alloc(82), { ...named, slot: 19n }),
      account('a', TOKENS, mintOf(1n), { ...named, slot: 20n }),
      account('a', TOKENS, mintOf(2n), { ...named, slot: 21n, lamports: 9n }),
      account('a', TOKENS, tokenBytes(5n), { ...named, slot: 22n }),
    ];
    const sent: bigint[] = [];
    const rota = createRota({
      reader: {
        read: async () => {
          const next = turns.shift();
          if (next === undefined) stop.abort();
          return next === undefined ? [] : [next];
        },
      } as never,
      notBefore: () => 0n,
      onRead: async (records) => void sent.push(...records.map(({ slot }) => slot)),
      ...{ onJoined: () => {}, onLeft: () => {}, everyMs: 1 },
      ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
    });
    rota.set([key('a')]);
    await awaited(() => expect(turns).toEqual([]));
    await awaited(() => expect(stop.signal.aborted).toBe(true));
    expect(sent).toEqual([11n, 14n, 15n, 16n, 17n, 18n, 19n, 20n, 22n]);
  });

  test('is read whole and logged once if it becomes a mint, which closes the balance; a later balance is logged at once', async () => {
    let slot = 10n;
    const asked: (number | undefined)[] = [];
    const rpc = {
      getMultipleAccounts: async (_: readonly string[], { mostBytes }: ReadOptions = {}) => {
        asked.push(mostBytes);
        slot += 1n;
        const isBalance = slot < 12n || slot > 18n;
        const data = isBalance ? tokenBytes(5n) : mintOf(slot);
        return { slot, accounts: [{ owner: TOKENS, lamports: 1n, data: data.subarray(0, mostBytes) }] };
      },
    };
    const sent: AccountRecord[] = [];
    const rota = createRota({
      reader: createAccountReader(
        rpc as unknown as Rpc,
        { expectedAt: () => 'token_account', isNamed: () => true, programId: PROGRAM },
        async () => null,
      ),
      notBefore: () => 0n,
      onRead: async (records) => {
        sent.push(...records);
        if (slot > 18n) stop.abort();
      },
      ...{ onJoined: () => {}, onLeft: () => {}, everyMs: 1 },
      ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
    });
    rota.set([key('mint')]);
    await awaited(() => expect(stop.signal.aborted).toBe(true));
    const whole = mintOf(1n).length;
    expect(whole).toBeGreaterThan(512);
    expect(sent.map((record) => [record.slot, record.data.length])).toEqual([
      ...[[11n, 165] as const, [13n, whole] as const],
      [19n, 165],
    ]);
    expect(asked).toEqual([512, 512, 65_536, ...Array.from({ length: 6 }, () => 512)]);
    const { seen, deadLetters } = readStates(sent.slice(1, 2), PROGRAM);
    expect(seen.map(({ table, reading }) => [table, reading === 'missing'])).toEqual([
      ['mints', false],
      ['token_accounts', true],
    ]);
    expect(deadLetters).toEqual([]);
  });

  test('is not affected in the rota by mint or metadata readings of it, unless those show a balance', async () => {
    let found = account('a', STRANGER, Buffer.alloc(512, 1), { ...named, slot: 1n });
    let turns = 0;
    const { following, followed, seen } = stage(() => {
      turns += 1;
      return [found];
    });
    following.add(key('a'), 'mint', true);
    following.add(key('a'), 'token_account', true);
    const turn = async (slot: bigint, owner: Uint8Array, data: Uint8Array, lamports = 1n) => {
      found = account('a', owner, data, { ...named, slot, lamports });
      const before = turns;
      // Once the second turn begins, the first is done.
      await awaited(() => expect(turns).toBeGreaterThan(before + 1));
    };
    const told = (expected: 'mint' | 'metadata', slot: bigint, owner: Uint8Array, data: Uint8Array) =>
      followed.told(account('a', owner, data, { expected, source: 'rpc', slot }));
    const balance = tokenBytes(5n);

    await turn(1n, STRANGER, Buffer.alloc(512, 1));
    told('mint', 2n, STRANGER, Buffer.alloc(2_000, 1));
    await turn(2n, STRANGER, Buffer.alloc(512, 1));
    expect(seen.sent).toEqual([1n]);
    await turn(3n, TOKENS, balance);
    told('mint', 4n, TOKENS, tokenBytes(7n));
    await turn(5n, TOKENS, balance);
    expect(seen.sent).toEqual([1n, 3n, 5n]);
    told('metadata', 6n, TOKENS, mintOf(1n));
    await turn(7n, TOKENS, balance);
    expect(seen.sent).toEqual([1n, 3n, 5n]);
    await turn(8n, TOKENS, large.subarray(0, 512));
    told('mint', 8n, TOKENS, large);
    await turn(9n, TOKENS, large.subarray(0, 512));
    told('mint', 10n, new Uint8Array(32), new Uint8Array(0));
    await turn(10n, new Uint8Array(32), new Uint8Array(0), 0n);
    expect(seen.sent).toEqual([1n, 3n, 5n, 8n, 10n]);
  });
});
