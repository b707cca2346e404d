import { beforeEach, describe, expect, test } from 'vitest';
import { seededKey, ZERO_KEY } from '../../devnet/program/state/keys.ts';
import { AGENT, REMOTE } from '../../devnet/program/state/state.ts';
import { openStage, STRANGER, type Stage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});

function deploy(tokenAccount: string, amount: bigint, by = stage.who.keeper, agent = false) {
  const { mint } = stage.terms;
  const kind = agent ? 'agent_fund_venue' : 'passive_deploy';
  return stage.run({ kind, mint, by, tokenAccount, amount, venues: stage.pairs() });
}
const fund = (amount: bigint) => stage.pay(stage.chain.addresses.ofPolicy(stage.terms.mint).bankroll, amount);

describe('deployment', () => {
  test('anyone may deploy a Passive bankroll up to risk percent of equity and no unit more', async () => {
    await stage.init();
    const local = await stage.register('local');
    await fund(1000n);
    expect((await deploy(local, 801n)).failed).toBe('RiskCapExceeded');
    const tx = await deploy(local, 500n, STRANGER);
    expect(tx.events).toMatchObject([
      { kind: 'PassiveDeployed', fields: { tokenAccount: local, amount: 500n } },
    ]);
    expect((await deploy(local, 301n)).failed).toBe('RiskCapExceeded');
    expect((await deploy(local, 300n)).failed).toBeNull();
    expect([stage.balance('bankroll'), stage.tokens(local)]).toEqual([200n, 800n]);
  });

  test('a policy with risk 0 cannot deploy anything', async () => {
    await stage.init({ risk: 0 });
    const local = await stage.register('local');
    await fund(1000n);
    expect((await deploy(local, 1n)).failed).toBe('RiskCapExceeded');
  });

  test('only funds deployed to a Remote account count as bridged out, at once; its reported equity is unchanged', async () => {
    await stage.init();
    const local = await stage.register('local');
    const remote = await stage.register('remote', { venueKind: REMOTE, assetClass: 16 });
    await fund(1000n);
    await stage.report(remote, 0n);
    await deploy(remote, 300n);
    await deploy(remote, 100n);
    expect((await deploy(local, 50n)).failed).toBeNull();
    expect(stage.venue(remote)).toMatchObject({ bridgedOut: 400n, remoteEquity: 0n });
    expect(stage.venue(local)).toMatchObject({ bridgedOut: 0n, remoteEquity: 0n });
    expect([stage.balance('bankroll'), stage.tokens(remote), stage.tokens(local)]).toEqual([550n, 400n, 50n]);
  });

  test('the agent alone funds venues of an Agent policy, and only registered ones', async () => {
    await stage.init({ mode: AGENT });
    const local = await stage.register('local');
    await fund(1000n);
    const { agent } = stage.policy();
    expect((await deploy(local, 10n, STRANGER, true)).failed).toBe('NotAgent');
    expect((await deploy(seededKey('elsewhere'), 10n, agent, true)).failed).toBe('VenueNotAllowed');
    expect((await deploy(local, 10n, agent, true)).events).toMatchObject([{ kind: 'AgentFundedVenue' }]);
    expect((await deploy(local, 10n)).failed).toBe('WrongMode');
  });

  test('note_credit counts the amount as spent and moves no tokens, and only the agent may call it', async () => {
    await stage.init({ mode: AGENT });
    await fund(1000n);
    const balances = () => [...stage.chain.state().tokens].map(([address, { amount }]) => [address, amount]);
    const before = balances();
    const { agent, mint } = stage.policy();
    await stage.run({ kind: 'note_credit', mint, by: agent, amount: 7n });
    expect((await stage.run({ kind: 'note_credit', mint, by: STRANGER, amount: 7n })).failed).toBe(
      'NotAgent',
    );
    expect(stage.policy().creditSpent).toBe(7n);
    expect(balances()).toEqual(before);
  });
});

describe('register_venue_account', () => {
  const register = (changes: object) =>
    stage.run({
      kind: 'register_venue_account',
      ...{ mint: stage.terms.mint, by: stage.terms.authority, tokenAccount: seededKey('v') },
      ...{ assetMint: stage.terms.quoteMint, venueKind: REMOTE, assetClass: 16, remoteAccount: ZERO_KEY },
      ...changes,
    });

  test('an asset class outside the origin’s and one that is not a single bit are refused', async () => {
    await stage.init({ originId: 6 });
    expect((await register({})).failed).toBe('ClassOutsideOrigin');
    expect((await register({ assetClass: 48 })).failed).toBe('InvalidAssetClass');
    expect((await register({ assetClass: 0 })).failed).toBe('InvalidAssetClass');
  });

  test('a policy at risk 50 cannot register a perpetuals account until its risk is raised', async () => {
    expect((await stage.init({ risk: 50 })).failed).toBeNull();
    expect((await register({})).failed).toBe('RiskBelowAssetClass');
    const { mint, authority: by } = stage.terms;
    await stage.run({ kind: 'set_policy', mint, by, terms: { ...stage.terms, risk: 80 } });
    expect((await register({})).failed).toBeNull();
    expect((await register({ by: STRANGER })).failed).toBe('NotAuthority');
  });
});
