import { describe, expect, test } from 'vitest';
import type { CoinResponse } from '../../../schemas/responses/coin/coin.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyAddress } from '../../../schemas/solana/pda.ts';
import { isoTime } from '../../../schemas/units.ts';
import {
  appliedRow,
  configRow,
  key,
  modelRow,
  originRow,
  PROGRAM,
  policyRow,
  rawKey,
  SLOT,
  signature,
  TIME,
} from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
});
const ASOF = isoTime(TIME);
const mint = key('coin');
const policyOf = (name: string) => policyRow(name, 'usd') as Record<string, string>;
const coin = async () => (await held.api.get<CoinResponse>(`/coins/${mint}`)).body;

describe('the policy of a coin', () => {
  test('counters are figures of the policy account with the time of its last change', async () => {
    const { counters, hwm } = await coin();
    const source = 'chain:Policy account';
    expect(counters).toEqual({
      feesClaimedQuote: { value: '11', source, asOf: ASOF },
      protocolFees: { value: '12', source, asOf: ASOF },
      routedToLp: { value: '13', source, asOf: ASOF },
      routedToBankroll: { value: '14', source, asOf: ASOF },
      profitSwept: { value: '15', source, asOf: ASOF },
      paidToHolders: { value: '16', source, asOf: ASOF },
      tokensBurned: { value: '17', source, asOf: ASOF },
      creditSpent: { value: '18', source, asOf: ASOF },
    });
    expect(hwm).toEqual({ value: '19', source, asOf: ASOF });
  });

  test('a counter of zero is present, and the largest u64 is served exactly', async () => {
    await held.api.truncate('policies');
    const change = { fees_claimed: '0', hwm: '18446744073709551615' };
    await held.api.insert('policies', [policyRow('coin', 'usd', change)]);
    const { counters, hwm } = await coin();
    expect(counters.feesClaimedQuote).toEqual({ value: '0', source: 'chain:Policy account', asOf: ASOF });
    expect(hwm.value).toBe('18446744073709551615');
  });

  test('a figure from a state without a block time is present, with a null time', async () => {
    await held.api.truncate('policies');
    await held.api.insert('policies', [policyRow('coin', 'usd', { block_time: null })]);
    expect((await coin()).hwm).toEqual({ value: '19', source: 'chain:Policy account', asOf: null });
  });

  test('keys, splits and flags are those of the account', async () => {
    const body = await coin();
    expect(body).toMatchObject({
      mint,
      quoteMint: key('usd'),
      feeKeyMint: key('fee key'),
      authority: key('authority'),
      agent: null,
      guardian: key('guardian'),
      mode: 'Passive',
      feeSplit: { toLpBps: 4000, toBankrollBps: 6000 },
      profitSplit: { toLpBps: 1000, toHoldersBps: 2000, toBankrollBps: 7000 },
      risk: 50,
      targetAsset: key('target'),
      targetLeverageX: 3,
      locked: false,
      paused: false,
    });
  });

  test('in Passive mode the model has id 0 and null fields', async () => {
    await held.api.insert('models', [modelRow(7, 'seven')]);
    expect((await coin()).model).toEqual({ id: 0, name: null, provider: null, enabled: null });
  });

  test('in Agent mode the model is that of the registry, and the agent is the key in the policy', async () => {
    await held.api.truncate('policies');
    await held.api.insert('policies', [policyRow('coin', 'usd', { mode: 'Agent', agent: key('agent') })]);
    expect((await coin()).model).toEqual({ id: 7, name: null, provider: null, enabled: null });
    await held.api.insert('models', [modelRow(7, 'seven', { enabled: 0 })]);
    const body = await coin();
    expect(body.model).toEqual({ id: 7, name: 'seven', provider: 'maker', enabled: false });
    expect(body.agent).toBe(key('agent'));
  });

  test('the origin is served with camelCase fields', async () => {
    await held.api.insert('origins', [originRow(1, 'stocks-only')]);
    expect((await coin()).origin).toEqual({
      pubkey: policyOf('coin').origin,
      name: 'stocks-only',
      assetClassMask: 79,
      maxRisk: 100,
    });
  });

  test.each([
    [0, 0, false],
    [1, 0, true],
    [0, 1, true],
    [1, 1, true],
  ])('money paths with policy paused %i and protocol paused %i are frozen: %s', async (own, all, frozen) => {
    await held.api.truncate('policies');
    await held.api.insert('policies', [policyRow('coin', 'usd', { paused: own })]);
    await held.api.insert('protocol_config', [configRow({ paused: all })]);
    const body = await coin();
    expect([body.paused, body.protocolPaused, body.moneyPathsFrozen]).toEqual([own === 1, all === 1, frozen]);
  });

  test('the last indexed signature is the newest transaction of the policy, or a later write of the account', async () => {
    const policy = policyOf('coin').address;
    const transaction = { policy, has_index: 1, block_time: TIME + 5 };
    await held.api.insert('policy_transactions', [
      { ...transaction, slot: '1005', signature: signature('b'), tx_index: 2 },
      { ...transaction, slot: '1005', signature: signature('c'), tx_index: 9 },
      { ...transaction, slot: '1001', signature: signature('a'), tx_index: 50 },
    ]);
    expect(await coin()).toMatchObject({
      lastIndexedSignature: signature('c'),
      updatedAt: isoTime(TIME + 5),
    });
    const later = { signature: signature('d'), slot: '1006', version: String(1006n << 64n) };
    await held.api.insert('policies', [policyRow('coin', 'usd', later)]);
    expect((await coin()).lastIndexedSignature).toBe(signature('d'));
  });

  test('a state read over RPC keeps the time of that reading when history finds the transaction that wrote it', async () => {
    const policy = policyOf('coin').address;
    const found = { slot: '1010', version: String(1010n << 64n), block_time: TIME + 100, source: 'rpc' };
    await held.api.insert('policies', [policyRow('coin', 'usd', { ...found, fees_claimed: '9' })]);
    const expected = { updatedAt: isoTime(TIME + 100), hwm: { asOf: isoTime(TIME + 100) } };
    expect(await coin()).toMatchObject(expected);
    const writer = { policy, has_index: 1, block_time: TIME + 60, slot: '1006', signature: signature('w') };
    await held.api.insert('policy_transactions', [{ ...writer, tx_index: 1 }]);
    expect(await coin()).toMatchObject({ ...expected, lastIndexedSignature: signature('w') });
  });
});

describe('a mint without a policy', () => {
  const names = ['', '/positions', '/fees', '/loop', '/activity', '/holders', '/posts'];
  test.each(names)('GET /coins/:mint%s answers 404 with the mint', async (name) => {
    for (const unknown of [
      key('nobody'),
      'x',
      encodeBase58(policyAddress(PROGRAM, rawKey('coin'))),
      '%00',
      'a%2Fb',
    ]) {
      const reply = await held.api.get(`/coins/${unknown}${name}`);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual({ error: `no policy indexed for mint ${decodeURIComponent(unknown)}` });
    }
  });

  test.each([
    ['no longer exists', false],
    ['was never seen to exist', true],
  ])('a policy whose account %s answers 404 with the mint', async (_, never) => {
    if (never) await held.api.truncate('policies');
    const gone = { exists: 0, version: String((SLOT + 1n) << 64n) };
    await held.api.insert('policies', [policyRow('coin', 'usd', gone)]);
    await held.api.insert('applied', [appliedRow('accounts', 0)]);
    const reply = await held.api.get(`/coins/${mint}`);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ error: `no policy indexed for mint ${mint}` });
  });
});
