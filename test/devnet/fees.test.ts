import { beforeEach, describe, expect, test } from 'vitest';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
let mint: string;
let by: string;
beforeEach(async () => {
  stage = await openStage();
  mint = stage.terms.mint;
  by = stage.who.keeper;
  await stage.init();
});

describe('claim_fees', () => {
  test('puts the legs into their escrows and counts the quote leg', async () => {
    const tx = await stage.run({ kind: 'claim_fees', mint, by, quoteAmount: 1001n, baseAmount: 7n });
    expect(tx.events).toEqual([
      { kind: 'FeesClaimed', fields: expect.objectContaining({ quoteAmount: 1001n, baseAmount: 7n }) },
    ]);
    expect([stage.balance('quoteEscrow'), stage.balance('baseEscrow')]).toEqual([1001n, 7n]);
    expect(stage.policy().feesClaimed).toBe(1001n);
  });

  test('fees forwarded into the escrow by a plain transfer are not counted as claimed', async () => {
    const tx = await stage.pay(stage.chain.addresses.ofPolicy(mint).quoteEscrow, 500n);
    expect([tx.ours, tx.events]).toEqual([false, []]);
    expect([stage.balance('quoteEscrow'), stage.policy().feesClaimed]).toEqual([500n, 0n]);
  });
});

describe('route', () => {
  test('empties the escrow into protocol cut, bankroll share and the rest for LP, each rounded down once', async () => {
    await stage.run({ kind: 'claim_fees', mint, by, quoteAmount: 1001n, baseAmount: 0n });
    const tx = await stage.run({ kind: 'route', mint, by });
    // cut 1001·500/10000 = 50, rest 951, bankroll 951·7000/10000 = 665, LP 286
    expect(tx.events[0]?.fields).toMatchObject({
      amount: 1001n,
      protocolCut: 50n,
      toLp: 286n,
      toBankroll: 665n,
    });
    expect([stage.balance('quoteEscrow'), stage.balance('bankroll'), stage.balance('lpQuote')]).toEqual([
      0n,
      665n,
      286n,
    ]);
    const { feeDestination } = stage.who;
    expect(stage.tokens(stage.chain.addresses.feeAccount(feeDestination, stage.terms.quoteMint))).toBe(50n);
    expect(stage.policy()).toMatchObject({ protocolFees: 50n, routedToBankroll: 665n, routedToLp: 0n });
  });

  test('an empty escrow fails with NothingToDo', async () => {
    expect((await stage.run({ kind: 'route', mint, by })).failed).toBe('NothingToDo');
  });
});

describe('compound_lp', () => {
  test('counts the amount taken from the staging account and emits no event', async () => {
    await stage.run({ kind: 'claim_fees', mint, by, quoteAmount: 1001n, baseAmount: 0n });
    await stage.run({ kind: 'route', mint, by });
    const tx = await stage.run({ kind: 'compound_lp', mint, by, amount: 200n });
    expect([tx.failed, tx.events]).toEqual([null, []]);
    expect([stage.policy().routedToLp, stage.balance('lpQuote')]).toEqual([200n, 86n]);
  });
});

describe('the burn path', () => {
  test('burn_base_leg burns the base escrow, the supply falls and the counter rises', async () => {
    await stage.run({ kind: 'claim_fees', mint, by, quoteAmount: 0n, baseAmount: 70n });
    const before = stage.chain.state().mints.get(mint)?.supply ?? 0n;
    const tx = await stage.run({ kind: 'burn_base_leg', mint, by });
    expect(tx.events).toMatchObject([{ kind: 'BaseLegBurned', fields: { burned: 70n } }]);
    expect(stage.chain.state().mints.get(mint)?.supply).toBe(before - 70n);
    expect([stage.policy().tokensBurned, stage.balance('baseEscrow')]).toEqual([70n, 0n]);
  });

  test('buyback_and_burn spends staged quote alone, and counts only what it spent', async () => {
    await stage.pay(stage.chain.addresses.ofPolicy(mint).holderRewards, 1000n);
    const tx = await stage.run({ kind: 'buyback_and_burn', mint, by, amount: 400n });
    const [event] = tx.events;
    if (event?.kind !== 'BuybackBurned') throw new Error('no event');
    expect(event.fields.spent).toBe(400n);
    expect(event.fields.burned).toBeGreaterThan(0n);
    expect(stage.policy()).toMatchObject({ paidToHolders: 400n, tokensBurned: event.fields.burned });
    expect([stage.balance('holderRewards'), stage.balance('baseEscrow')]).toEqual([600n, 0n]);
  });
});
