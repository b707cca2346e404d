import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { readAccount } from '../../../ingest/materialise/rows/account.ts';
import { readStates } from '../../../ingest/materialise/rows/read-states.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyTokenAccounts, poolAddress } from '../../../schemas/solana/pda.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { policyBytes, tokenBytes } from './support/accounts.ts';
import { account, batchOf, key, logOf, PROGRAM, rawKey } from './support/records.ts';

const bytesOf = (text: string): Uint8Array => decodeKey(text) as Uint8Array;
const TOKEN = bytesOf('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const SYSTEM = new Uint8Array(32);
const LAUNCHPAD = rawKey('launchpad');
const OF = { mint: 'm', owner: 'o' };

function mintBytes(supply: bigint): Uint8Array {
  const data = Buffer.alloc(82);
  data.writeBigUInt64LE(supply, 36);
  data[44] = 6;
  data[45] = 1;
  return data;
}

const POOL = Buffer.alloc(429);
POOL.set(Buffer.from('f7ede3f5d7c3de46', 'hex'));
const POOL_AT = poolAddress(LAUNCHPAD, POOL.subarray(205, 237), POOL.subarray(237, 269));

const kindOf = (...args: Parameters<typeof account>): string => {
  try {
    const reading = readAccount(account(...args), PROGRAM);
    return typeof reading === 'string' ? reading : reading.table;
  } catch (error) {
    if (error instanceof MalformedError) return 'malformed';
    throw error;
  }
};

describe('recognising an account', () => {
  const policy = policyBytes();

  test('the owner of an account, then its bytes decide what it is', () => {
    expect(kindOf('a', PROGRAM, policy)).toBe('policies');
    expect(kindOf('a', TOKEN, tokenBytes(5n, OF))).toBe('token_accounts');
    expect(kindOf('a', TOKEN, mintBytes(5n))).toBe('mints');
    expect(kindOf('a', LAUNCHPAD, POOL, { address: POOL_AT })).toBe('pools');
  });

  test('an account without lamports is missing, whichever program owns it', () => {
    expect(kindOf('a', PROGRAM, policy, { lamports: 0n })).toBe('missing');
    expect(kindOf('a', SYSTEM, new Uint8Array(0), { expected: 'token_account' })).toBe('missing');
  });

  test('an account that is neither followed nor recognised by its bytes is foreign', () => {
    expect(kindOf('a', LAUNCHPAD, Buffer.alloc(50))).toBe('foreign');
    expect(kindOf('a', TOKEN, Buffer.alloc(50))).toBe('foreign');
    expect(kindOf('a', rawKey('another program'), policy)).toBe('foreign');
  });

  test('pool bytes are a pool only at the address that the owning program derives for it', () => {
    const stranger = rawKey('another program');
    expect(kindOf('a', stranger, POOL, { address: POOL_AT })).toBe('foreign');
    expect(kindOf('a', stranger, POOL, { address: POOL_AT, expected: 'pool' })).toBe('malformed');
    expect(kindOf('a', LAUNCHPAD, POOL)).toBe('foreign');
  });

  test('a metadata pointer does not change what an account is, and unreadable metadata keeps no bytes', () => {
    const pointed = { expected: 'metadata' } as const;
    expect(kindOf('a', TOKEN, tokenBytes(5n, OF), pointed)).toBe('token_accounts');
    expect(kindOf('a', PROGRAM, policy, pointed)).toBe('policies');
    expect(kindOf('a', LAUNCHPAD, POOL, { ...pointed, address: POOL_AT })).toBe('pools');
    const { deadLetters } = readStates([account('a', LAUNCHPAD, Buffer.alloc(5_000), pointed)], PROGRAM);
    expect(deadLetters).toMatchObject([{ bytes: new Uint8Array(0) }]);
  });

  test('an account of our program that does not decode, or one that is not what it is followed as, is malformed', () => {
    expect(kindOf('a', PROGRAM, policy.slice(0, 300))).toBe('malformed');
    expect(kindOf('a', PROGRAM, Buffer.alloc(400))).toBe('malformed');
    expect(kindOf('a', LAUNCHPAD, Buffer.alloc(50), { expected: 'pool' })).toBe('malformed');
    expect(kindOf('a', TOKEN, tokenBytes(5n, { ...OF, state: 0 }), { expected: 'token_account' })).toBe(
      'malformed',
    );
    const multisig = Buffer.concat([tokenBytes(5n, OF), Buffer.alloc(190, 2)]);
    expect(kindOf('a', TOKEN, multisig, { expected: 'token_account' })).toBe('malformed');
    expect(kindOf('a', TOKEN, multisig)).toBe('foreign');
    const named = { expected: 'token_account' } as const;
    const states = [
      account('a', TOKEN, multisig, named),
      account('b', LAUNCHPAD, Buffer.alloc(50, 7), named),
    ];
    // The dead letter of a followed account that another program owns keeps no bytes.
    const kept = readStates(states, PROGRAM).deadLetters.map(({ bytes }) => Buffer.from(bytes));
    expect(kept).toEqual([multisig, Buffer.alloc(0)]);
    expect(kindOf('a', LAUNCHPAD, Buffer.from(POOL).fill(9, 17, 18))).toBe('malformed');
  });
});

describe('account states of a batch', () => {
  let store: Store;
  let next = 0n;
  beforeAll(async () => {
    store = await embeddedDatabase('several');
  });
  afterAll(() => store.close());

  async function apply(...records: LogRecord[]): Promise<void> {
    await createMaterialiser({ store, programId: PROGRAM })(batchOf('accounts', logOf(records, next)));
    next += BigInt(records.length);
  }
  const one = async (sql: string): Promise<unknown> => (await store.query(sql))[0];

  test('the newest valid state of each address is kept, in whatever order they come', async () => {
    const at = (slot: bigint, writeVersion: bigint, amount: bigint) =>
      account('balance', TOKEN, tokenBytes(amount, OF), { slot, writeVersion });
    const state = `SELECT slot, amount FROM token_accounts FINAL WHERE exists AND mint = '${key('m')}'`;
    await apply(at(10n, 2n, 102n), at(10n, 3n, 103n), at(9n, 9n, 99n));
    expect(await one(state)).toEqual({ slot: '10', amount: '103' });
    await apply(at(10n, 1n, 101n), at(8n, (1n << 64n) - 1n, 88n));
    expect(await one(state)).toEqual({ slot: '10', amount: '103' });
    await apply(at(11n, 0n, 111n));
    expect(await one(state)).toEqual({ slot: '11', amount: '111' });
  });

  test('malformed states become dead letters, and the last valid state stays', async () => {
    const good = account('pool', LAUNCHPAD, POOL, { address: POOL_AT, slot: 20n, expected: 'pool' });
    const status = { ...good, slot: 22n, data: Uint8Array.from(POOL).fill(9, 17, 18) };
    const short = { ...good, slot: 23n, data: POOL.subarray(0, 100) };
    await apply(good, status, short);
    expect(await one('SELECT slot, status FROM pools FINAL')).toMatchObject({ slot: '20' });
    const letters = await store.query<{
      what: string;
      at: string;
      slot: string;
      reason: string;
      bytes: string;
    }>('SELECT what, at, slot, reason, bytes FROM dead_letters FINAL ORDER BY slot');
    expect(letters).toEqual([
      {
        what: 'account:pool',
        at: encodeBase58(POOL_AT),
        slot: '22',
        reason: 'pool: status 9 is out of range',
        bytes: Buffer.from(status.data).toString('base64'),
      },
      expect.objectContaining({ what: 'account:pool', slot: '23', bytes: short.data.toString('base64') }),
    ]);
    await apply(good, status, short);
    expect(await one('SELECT count() AS n FROM dead_letters FINAL')).toEqual({ n: '2' });
  });

  test('a closed account is marked as closed in its table, and can be opened again', async () => {
    const open = account('policy', PROGRAM, policyBytes(), { slot: 30n, expected: 'program' });
    const closed = { ...open, slot: 31n, lamports: 0n, owner: SYSTEM, data: new Uint8Array(0) };
    const state = 'SELECT slot, exists FROM policies FINAL';
    await apply(open);
    expect(await one(state)).toEqual({ slot: '30', exists: 1 });
    await apply(closed, open);
    expect(await one(state)).toEqual({ slot: '31', exists: 0 });
    await apply({ ...open, slot: 32n });
    expect(await one(state)).toEqual({ slot: '32', exists: 1 });
    expect(await one('SELECT count() AS n FROM venue_accounts')).toEqual({ n: '0' });
  });

  test('a followed address without an account is stored as not existing', async () => {
    await apply(account('nothing', SYSTEM, new Uint8Array(0), { lamports: 0n, slot: 40n, expected: 'pool' }));
    const address = key('nothing');
    expect(
      await store.query('SELECT slot, exists FROM pools FINAL WHERE address = {address:String}', { address }),
    ).toEqual([{ slot: '40', exists: 0 }]);
  });

  test.each([1, 9])(
    'a token account that becomes a mint no longer exists as a token account, %i states a batch',
    async (size) => {
      const name = `turned, ${size} a batch`;
      const read = (slot: bigint, data: Uint8Array) =>
        account(name, TOKEN, data, {
          ...{ slot, blockTime: Number(slot) * 3_600, source: 'rpc', expected: 'token_account' },
        });
      const states = [
        ...[read(50n, tokenBytes(7n, OF)), read(51n, mintBytes(1n)), read(52n, mintBytes(2n))],
        ...[read(53n, tokenBytes(9n, OF)), read(54n, mintBytes(3n))],
      ];
      for (let at = 0; at < states.length; at += size) await apply(...states.slice(at, at + size));
      const of = (sql: string) => store.query(sql, { address: key(name) });
      const where = 'WHERE address = {address:String}';
      expect(await of(`SELECT slot, exists FROM token_accounts FINAL ${where}`)).toEqual([
        { slot: '54', exists: 0 },
      ]);
      expect(await of(`SELECT slot, exists, supply FROM mints FINAL ${where}`)).toEqual([
        { slot: '54', exists: 1, supply: '3' },
      ]);
      expect(
        await of(`SELECT hour, exists, held_in, amount FROM account_hours FINAL ${where} ORDER BY hour`),
      ).toEqual(
        [50, 51, 52, 53, 54].map((hour) => {
          const amount = { 50: '7', 53: '9' }[hour];
          return {
            hour,
            exists: amount === undefined ? 0 : 1,
            held_in: 'token_accounts',
            amount: amount ?? '0',
          };
        }),
      );
      // 51 to 52 is no change: the token account stays absent while the mint changes.
      expect(
        await of(`SELECT after_slot, to_slot FROM unseen_changes FINAL ${where} ORDER BY to_slot`),
      ).toEqual([
        ...[
          { after_slot: '50', to_slot: '51' },
          { after_slot: '52', to_slot: '53' },
        ],
        { after_slot: '53', to_slot: '54' },
      ]);
    },
  );

  test('a mint that becomes a token account no longer exists as a mint', async () => {
    const at = { expected: 'mint', slot: 60n } as const;
    await apply(account('back', TOKEN, mintBytes(1n), at));
    await apply(account('back', TOKEN, tokenBytes(5n, OF), { ...at, slot: 61n }));
    const of = (table: string) =>
      store.query(`SELECT slot, exists FROM ${table} FINAL WHERE address = {address:String}`, {
        address: key('back'),
      });
    expect(await of('mints')).toEqual([{ slot: '61', exists: 0 }]);
    expect(await of('token_accounts')).toEqual([{ slot: '61', exists: 1 }]);
  });

  test('the row of a policy names its token accounts', async () => {
    const { bankroll, quoteEscrow, baseEscrow, holderRewards } = policyTokenAccounts(
      PROGRAM,
      rawKey('policy'),
    );
    expect(
      await one('SELECT bankroll, quote_escrow, base_escrow, holder_rewards FROM policies FINAL'),
    ).toEqual({
      bankroll: encodeBase58(bankroll),
      quote_escrow: encodeBase58(quoteEscrow),
      base_escrow: encodeBase58(baseEscrow),
      holder_rewards: encodeBase58(holderRewards),
    });
  });
});
