import { beforeEach, describe, expect, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { reports } from '../../devnet/life/money.ts';
import { profileOf } from '../../devnet/life/profile.ts';
import type { World } from '../../devnet/life/world.ts';
import type { Random } from '../../devnet/program/state/random.ts';
import { REMOTE } from '../../devnet/program/state/state.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
let remote: string;
beforeEach(async () => {
  stage = await openStage();
  await stage.init();
  remote = await stage.register('remote', { venueKind: REMOTE, assetClass: 16 });
  await stage.report(remote, 0n);
  await stage.pay(stage.chain.addresses.ofPolicy(stage.policy().mint).bankroll, 1_000_000n);
});

async function send(amount: bigint) {
  const { mint } = stage.policy();
  const sent = { kind: 'passive_deploy', mint, by: stage.who.keeper, tokenAccount: remote, amount } as const;
  expect((await stage.run({ ...sent, venues: stage.pairs() })).failed).toBeNull();
}

/** The coming slot, in which venues report so many per cent of the previous equity. */
function coming(drift: bigint): World {
  const { chain, who } = stage;
  const state = chain.state();
  // Only the drift is drawn from a positive range; notional and time are 0.
  const random = { big: (low: bigint) => (low > 0n ? drift : 0n), chance: () => false } as unknown as Random;
  return {
    ...{ chain, state, random, seed: chain.seed, now: stage.now(), who },
    ...{ venuesOf: () => [...state.venues.values()], counted: new Map(), keepsParams: false },
  };
}

const chosen = (world: World) =>
  reports(
    world,
    {
      ...{ policy: stage.policy(), profile: profileOf(stage.chain.seed, 1, ''), unit: 1n },
      venues: world.venuesOf(''),
    },
    true,
  );

/** Attested equity after each of so many turns of the reporter. */
async function attested(turns: number, drift = 100n): Promise<bigint[]> {
  const after: bigint[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    for (const action of chosen(coming(drift))) expect((await stage.run(action)).failed).toBeNull();
    after.push(stage.venue(remote).remoteEquity);
  }
  return after;
}

describe('money sent to a remote account', () => {
  test('is attested in full by one report when the account was empty', async () => {
    await send(50_000n);
    expect(await attested(2)).toEqual([50_000n, 50_000n]);
  });

  test('is added to the existing equity exactly once, without pausing the policy', async () => {
    await send(1_000n);
    await attested(1);
    await send(100_000n);
    const after = await attested(20);
    expect(after.at(-1)).toBe(101_000n);
    expect(stage.policy().paused).toBe(false);
    expect(await attested(2)).toEqual([101_000n, 101_000n]);
  });

  test('is added to the equity that earlier losses and gains left', async () => {
    await send(100_000n);
    await attested(1);
    await attested(1, 90n);
    await send(10_000n);
    expect(await attested(2)).toEqual([100_000n, 100_000n]);
    await attested(1, 110n);
    await send(5_000n);
    expect(await attested(2)).toEqual([115_000n, 115_000n]);
  });

  test('is neither lost nor counted twice when the account is reported twice in one slot', async () => {
    await send(100_000n);
    await attested(1);
    await send(30_000n);
    const world = coming(100n);
    for (const action of [...chosen(world), ...chosen(world)])
      expect((await stage.run(action)).failed).toBeNull();
    expect((await attested(5)).at(-1)).toBe(130_000n);
  });
});

test('some equity reports, under one in ten, are dated ahead of their block, by at most 3 seconds', async () => {
  const chain = createChain({ dir: null, seed: 'dated', genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed: 'dated', policies: 6, rate: 4 });
  const ahead: number[] = [];
  while (chain.tip().slot < 600n) {
    const { blockTime, transactions } = await chain.produce(life.next());
    for (const { kind, fields } of transactions.flatMap(({ events }) => events))
      if (kind === 'RemoteEquityReported') ahead.push(Number(fields.asof) - blockTime);
  }
  const those = ahead.filter((seconds) => seconds > 0);
  expect(those.length).toBeGreaterThan(0);
  expect(those.length).toBeLessThan(ahead.length / 10);
  expect(Math.max(...those)).toBeLessThanOrEqual(3);
});
