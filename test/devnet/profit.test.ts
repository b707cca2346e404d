import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { splitProfit } from '../../devnet/program/rules/profit.ts';
import { REMOTE } from '../../devnet/program/state/state.ts';
import { openStage, type Stage } from './stage.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

let stage: Stage;
let bankroll: string;
const sweep = (venues = stage.pairs()) =>
  stage.run({ kind: 'sweep_profit', mint: stage.terms.mint, by: stage.who.keeper, venues });

beforeEach(async () => {
  stage = await openStage();
  bankroll = stage.chain.addresses.ofPolicy(stage.terms.mint).bankroll;
  await stage.init();
});

describe('sweep_profit', () => {
  test('splits what is above the mark, leaves the bankroll share, and raises the mark to what stays', async () => {
    await stage.pay(bankroll, 1003n);
    const tx = await sweep();
    expect(tx.events[0]?.fields).toMatchObject({
      equity: 1003n,
      profit: 1003n,
      toLp: 200n,
      toHolders: 501n,
      hwm: 302n,
    });
    expect([stage.balance('lpQuote'), stage.balance('holderRewards'), stage.balance('bankroll')]).toEqual([
      200n,
      501n,
      302n,
    ]);
    expect(stage.policy()).toMatchObject({ hwm: 302n, profitSwept: 701n });
  });

  test('equity at or below the mark fails with NothingToDo, and the mark stays', async () => {
    expect((await sweep()).failed).toBe('NothingToDo');
    await stage.pay(bankroll, 1003n);
    await sweep();
    expect((await sweep()).failed).toBe('NothingToDo');
    await stage.run({ kind: 'transfer', account: bankroll, amount: 2n, direction: 'out' });
    expect((await sweep()).failed).toBe('NothingToDo');
    expect([stage.balance('bankroll'), stage.policy().hwm]).toEqual([300n, 302n]);
    await stage.pay(bankroll, 3n);
    expect((await sweep()).events[0]?.fields).toMatchObject({ equity: 303n, profit: 1n });
  });

  test('where the bankroll holds too little both legs shrink, and profit_swept counts what moved', async () => {
    const local = await stage.register('local');
    await stage.pay(bankroll, 100n);
    await stage.pay(local, 900n);
    const tx = await sweep();
    // asked 200 + 500 = 700 of a bankroll of 100: 200·100/700 = 28, holders 72
    expect(tx.events[0]?.fields).toMatchObject({
      equity: 1000n,
      profit: 1000n,
      toLp: 28n,
      toHolders: 72n,
      hwm: 900n,
    });
    expect(stage.policy()).toMatchObject({ hwm: 900n, profitSwept: 100n });
  });

  test('no split ever moves more than the bankroll or the profit', () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 63n });
    const shares = fc.tuple(fc.nat(10_000), fc.nat(10_000)).map(([lp, rest]) => ({
      profitToLpBps: lp,
      profitToHoldersBps: Math.min(rest, 10_000 - lp),
    }));
    fc.assert(
      fc.property(amount, amount, shares, (profit, held, bps) => {
        const { toLp, toHolders } = splitProfit(profit, held, bps);
        expect(toLp >= 0n && toHolders >= 0n && toLp + toHolders <= held && toLp + toHolders <= profit).toBe(
          true,
        );
      }),
      { seed: SEED },
    );
  });

  test('the venue set must be whole, ascending and without repeats', async () => {
    await stage.register('one');
    await stage.register('two');
    await stage.pay(bankroll, 10n);
    const [first, second] = stage.pairs();
    if (first === undefined || second === undefined) throw new Error('two venues');
    for (const wrong of [[], [first], [second, first], [first, first], [first, second, second]]) {
      expect((await sweep(wrong)).failed).toBe('VenueSetIncomplete');
    }
    expect((await sweep()).failed).toBeNull();
  });

  test('a venue entry other than the derived address fails with VenueNotAllowed', async () => {
    await stage.register('one');
    await stage.pay(bankroll, 10n);
    const wrong = stage.pairs().map((pair) => ({ ...pair, entry: bankroll }));
    expect((await sweep(wrong)).failed).toBe('VenueNotAllowed');
  });

  test('a Local account of another mint fails the sweep with WrongMint until it is revoked', async () => {
    const local = await stage.register('odd', { assetMint: stage.terms.mint });
    await stage.pay(bankroll, 10n);
    expect((await sweep()).failed).toBe('WrongMint');
    await stage.run({
      kind: 'revoke_venue_account',
      mint: stage.terms.mint,
      by: stage.terms.authority,
      tokenAccount: local,
    });
    expect((await sweep()).failed).toBeNull();
  });

  test('a revoked account is out of the count and out of equity', async () => {
    const local = await stage.register('one');
    await stage.pay(local, 500n);
    await stage.pay(bankroll, 10n);
    expect(stage.policy().venueCount).toBe(1);
    const { mint, authority: by } = stage.terms;
    const tx = await stage.run({ kind: 'revoke_venue_account', mint, by, tokenAccount: local });
    expect(tx.events).toMatchObject([{ kind: 'VenueRevoked', fields: { tokenAccount: local } }]);
    expect(stage.policy().venueCount).toBe(0);
    expect((await sweep()).events[0]?.fields).toMatchObject({ equity: 10n });
  });

  test('one stale attestation fails the whole call, a fresh one counts as equity', async () => {
    const remote = await stage.register('remote', { venueKind: REMOTE, assetClass: 16 });
    await stage.pay(bankroll, 1000n);
    expect((await sweep()).failed).toBe('StaleRemoteEquity');
    await stage.report(remote, 5000n, { asof: stage.now() - 121n });
    expect((await sweep()).failed).toBe('StaleRemoteEquity');
    await stage.report(remote, 5000n);
    expect((await sweep()).events[0]?.fields).toMatchObject({ equity: 6000n });
  });
});

test('claim_fees, route and compound_lp succeed although a remote equity was never attested', async () => {
  await stage.register('remote', { venueKind: REMOTE, assetClass: 16 });
  const { mint } = stage.terms;
  const by = stage.who.keeper;
  expect(
    (await stage.run({ kind: 'claim_fees', mint, by, quoteAmount: 99n, baseAmount: 0n })).failed,
  ).toBeNull();
  expect((await stage.run({ kind: 'route', mint, by })).failed).toBeNull();
  expect((await stage.run({ kind: 'compound_lp', mint, by, amount: 1n })).failed).toBeNull();
});
