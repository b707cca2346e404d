import { beforeEach, describe, expect, test } from 'vitest';
import { agentKeypair } from '../../devnet/life/agent-keys.ts';
import { quoteAssets } from '../../devnet/life/quote-assets.ts';
import type { SingleAction } from '../../devnet/program/actions.ts';
import { ZERO_KEY } from '../../devnet/program/state/keys.ts';
import { TOKEN_PROGRAM } from '../../devnet/program/state/known-programs.ts';
import { AGENT, LOCAL } from '../../devnet/program/state/state.ts';
import idl from '../../schemas/bankroll.idl.json' with { type: 'json' };
import { openStage, STRANGER, type Stage } from './stage.ts';

let stage: Stage;
let mint: string;
let by: string;
beforeEach(async () => {
  stage = await openStage();
  mint = stage.terms.mint;
  by = stage.terms.authority;
});

describe('init_policy', () => {
  test.each([
    [{ toLpBps: 3001 }, 'SplitNotWhole'],
    [{ toLpBps: 999, toBankrollBps: 9001 }, 'BankrollShareTooHigh'],
    [{ profitToLpBps: 2001 }, 'ProfitSplitNotWhole'],
    [{ risk: 101 }, 'RiskAboveOrigin'],
    [{ targetLeverageX: 6 }, 'InvalidLeverage'],
    [{ originId: 99 }, 'UnknownOrigin'],
    [{ mode: AGENT, modelId: 7 }, 'UnknownModel'],
  ])('with %o fails with %s', async (changes, error) => {
    expect((await stage.init(changes)).failed).toBe(error);
    expect(stage.chain.state().policies.size).toBe(0);
  });

  test('a quote mint of the classic token program cannot be paired', async () => {
    const classic = quoteAssets('stage').find((asset) => asset.program === TOKEN_PROGRAM);
    expect((await stage.init({ quoteMint: classic?.mint ?? '' })).failed).toBe('WrongTokenProgram');
  });

  test('opens five token accounts and says so in one event; a Passive policy has neither agent nor model', async () => {
    const tx = await stage.init();
    expect(tx.events).toMatchObject([{ kind: 'PolicyInitialised', fields: { mode: 0, modelId: 0 } }]);
    expect(stage.policy()).toMatchObject({ agent: '11111111111111111111111111111111', modelId: 0, hwm: 0n });
    const at = stage.chain.addresses.ofPolicy(mint);
    const { tokens } = stage.chain.state();
    for (const address of [at.bankroll, at.quoteEscrow, at.holderRewards, at.lpQuote]) {
      expect(tokens.get(address)).toMatchObject({
        mint: stage.terms.quoteMint,
        owner: at.policy,
        amount: 0n,
      });
    }
    expect(tokens.get(at.baseEscrow)).toMatchObject({ mint, owner: at.policy });
    expect((await stage.init()).failed).toBe('AccountInUse');
  });
});

describe('a policy over time', () => {
  test('a locked policy never changes its terms again, but its agent, venues and pause still do', async () => {
    await stage.init({ mode: AGENT });
    await stage.run({ kind: 'lock_policy', mint, by });
    const changed = await stage.run({ kind: 'set_policy', mint, by, terms: { ...stage.terms, risk: 90 } });
    expect([changed.failed, stage.policy().risk, stage.policy().locked]).toEqual(['PolicyLocked', 80, true]);
    const next = agentKeypair('stage', mint, 3).key;
    const rotated = await stage.run({ kind: 'set_agent', mint, by, agent: next });
    expect(rotated.events).toMatchObject([{ kind: 'AgentSet', fields: { newAgent: next } }]);
    expect(stage.policy().agent).toBe(next);
    await stage.register('after the lock');
    await stage.run({ kind: 'set_paused', mint, by, paused: true });
    expect(stage.policy()).toMatchObject({ venueCount: 1, paused: true });
  });

  test('set_policy changes the terms of an unlocked policy and keeps its mode', async () => {
    await stage.init();
    const terms = { ...stage.terms, risk: 33, toLpBps: 5000, toBankrollBps: 5000, modelId: 2 };
    expect((await stage.run({ kind: 'set_policy', mint, by, terms })).events).toMatchObject([
      { kind: 'PolicyUpdated' },
    ]);
    expect(stage.policy()).toMatchObject({ risk: 33, toBankrollBps: 5000, mode: 0, modelId: 0 });
  });

  test('instructions on a policy that the IDL has the authority sign fail for anyone else', async () => {
    await stage.init();
    const of = { mint, by: STRANGER };
    const venue = { tokenAccount: mint, assetMint: stage.terms.quoteMint, remoteAccount: ZERO_KEY };
    const tried: SingleAction[] = [
      { kind: 'set_policy', ...of, terms: stage.terms },
      { kind: 'lock_policy', ...of },
      { kind: 'set_agent', ...of, agent: STRANGER },
      { kind: 'set_paused', ...of, paused: true },
      { kind: 'register_venue_account', ...of, ...venue, venueKind: LOCAL, assetClass: 1 },
      { kind: 'revoke_venue_account', ...of, tokenAccount: mint },
    ];
    for (const action of tried) expect((await stage.run(action)).failed, action.kind).toBe('NotAuthority');
    const signed = idl.instructions.filter(({ accounts }) => accounts[0]?.name === 'authority');
    // The signer that creates a policy is its authority.
    expect(['init_policy', ...tried.map(({ kind }) => kind)].sort()).toEqual(
      signed.map(({ name }) => name).sort(),
    );
  });
});

describe('pauses', () => {
  test('the guardian pauses, only the authority unpauses', async () => {
    await stage.init();
    const { guardian } = stage.terms;
    const paused = await stage.run({ kind: 'guardian_pause', mint, by: guardian });
    expect(paused.events).toMatchObject([{ kind: 'PolicyPaused', fields: { paused: true, by: 1 } }]);
    const tried = await stage.run({ kind: 'set_paused', mint, by: guardian, paused: false });
    expect([tried.failed, stage.policy().paused]).toEqual(['NotAuthority', true]);
    const lifted = await stage.run({ kind: 'set_paused', mint, by, paused: false });
    expect(lifted.events).toMatchObject([{ kind: 'PolicyPaused', fields: { paused: false, by: 0 } }]);
  });

  test('every money instruction fails while policy or protocol is paused; ProtocolPaused takes precedence', async () => {
    await stage.init();
    const keeper = stage.who.keeper;
    const money = async () => [
      await stage.run({ kind: 'claim_fees', mint, by: keeper, quoteAmount: 1n, baseAmount: 0n }),
      await stage.run({ kind: 'route', mint, by: keeper }),
      await stage.run({ kind: 'compound_lp', mint, by: keeper, amount: 1n }),
      await stage.run({
        kind: 'passive_deploy',
        mint,
        by: keeper,
        tokenAccount: mint,
        amount: 1n,
        venues: [],
      }),
      await stage.run({
        kind: 'agent_fund_venue',
        mint,
        by: keeper,
        tokenAccount: mint,
        amount: 1n,
        venues: [],
      }),
      await stage.run({ kind: 'sweep_profit', mint, by: keeper, venues: [] }),
      await stage.run({ kind: 'buyback_and_burn', mint, by: keeper, amount: 1n }),
      await stage.run({ kind: 'burn_base_leg', mint, by: keeper }),
    ];
    await stage.run({ kind: 'set_paused', mint, by, paused: true });
    expect(new Set((await money()).map((tx) => tx.failed))).toEqual(new Set(['PolicyPaused']));
    const { admin } = stage.who;
    const switched = await stage.run({ kind: 'set_protocol_paused', by: admin, paused: true });
    expect(switched.events).toEqual([{ kind: 'ProtocolPaused', fields: { paused: true } }]);
    expect(new Set((await money()).map((tx) => tx.failed))).toEqual(new Set(['ProtocolPaused']));
  });
});

describe('the protocol', () => {
  test('a protocol fee over 2000 bps is BpsOutOfRange and changes nothing', async () => {
    const { admin } = stage.who;
    const config = () => stage.chain.state().configs.get(stage.chain.addresses.config.address);
    const tx = await stage.run({ kind: 'set_protocol_params', by: admin, params: { protocolFeeBps: 2001 } });
    expect([tx.failed, config()?.protocolFeeBps]).toEqual(['BpsOutOfRange', 500]);
    await stage.run({ kind: 'set_protocol_params', by: admin, params: { protocolFeeBps: 2000 } });
    expect(config()?.protocolFeeBps).toBe(2000);
    const stranger = await stage.run({ kind: 'set_protocol_params', by: STRANGER, params: {} });
    expect(stranger.failed).toBe('NotAdmin');
  });

  test('a model is overwritten in place and has the time of its last change; an origin is never written twice', async () => {
    const { admin } = stage.who;
    const at = stage.now();
    const model = { id: 1, name: 'renamed', provider: 'someone', enabled: false };
    await stage.run({ kind: 'register_model', by: admin, ...model });
    const { address } = stage.chain.addresses.model(1);
    expect(stage.chain.state().models.get(address)).toMatchObject({ ...model, registeredAt: at });
    const origin = { id: 1, name: 'again', assetClassMask: 1, maxRisk: 1 };
    expect((await stage.run({ kind: 'register_origin', by: admin, ...origin })).failed).toBe('AccountInUse');
  });
});
