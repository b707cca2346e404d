import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import type { LedgerTransaction } from '../../devnet/chain/ledger.ts';
import { agentKeypair } from '../../devnet/life/agent-keys.ts';
import { launchMint, profileOf } from '../../devnet/life/profile.ts';
import { officials, setupActions } from '../../devnet/life/setup.ts';
import { livePairs } from '../../devnet/life/world.ts';
import type { Action } from '../../devnet/program/actions.ts';
import type { InitPolicy } from '../../devnet/program/rules/policy.ts';
import { seededKey, ZERO_KEY } from '../../devnet/program/state/keys.ts';
import { LOCAL, PASSIVE, type Policy, type VenueAccount } from '../../devnet/program/state/state.ts';

const SEED = 'stage';
export const STRANGER = seededKey('a stranger');

/** A chain with one launched token, for a rule to be tried on. Every action is a block of its own. */
export interface Stage {
  chain: Chain;
  who: ReturnType<typeof officials>;
  terms: InitPolicy;
  /** Runs an action: the transaction it became. */
  run(action: Action): Promise<LedgerTransaction>;
  init(changes?: Partial<InitPolicy>): Promise<LedgerTransaction>;
  policy(): Policy;
  venue(tokenAccount: string): VenueAccount;
  pairs(): ReturnType<typeof livePairs>;
  balance(account: 'bankroll' | 'quoteEscrow' | 'baseEscrow' | 'holderRewards' | 'lpQuote'): bigint;
  tokens(address: string): bigint;
  /** Puts tokens into an account from outside. */
  pay(account: string, amount: bigint): Promise<LedgerTransaction>;
  register(
    name: string,
    changes?: { venueKind?: number; assetClass?: number; assetMint?: string; remoteAccount?: string },
  ): Promise<string>;
  report(tokenAccount: string, equity: bigint, changes?: object): Promise<LedgerTransaction>;
  /** Unix seconds of the next block. */
  now(): bigint;
}

export async function openStage(): Promise<Stage> {
  const chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, skipChance: 0 });
  const who = officials(SEED);
  await chain.produce(setupActions(SEED));
  const { launch, init } = profileOf(SEED, 1, 'http://127.0.0.1:1');
  await chain.produce([launch]);
  const mint = launchMint(SEED, 1);
  const at = chain.addresses.ofPolicy(mint);
  const terms: InitPolicy = {
    ...init,
    agent: agentKeypair(SEED, mint).key,
    mode: PASSIVE,
    originId: 2,
    toLpBps: 3000,
    toBankrollBps: 7000,
    profitToLpBps: 2000,
    profitToHoldersBps: 5000,
    profitToBankrollBps: 3000,
    risk: 80,
    targetLeverageX: 2,
    modelId: 1,
  };
  const found = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('not on the stage');
    return value;
  };
  const run = async (action: Action) => found((await chain.produce([action])).transactions[0]);
  const venueKey = (tokenAccount: string) => chain.addresses.venue(at.policy, tokenAccount).address;
  const now = () => BigInt(chain.timeOf(chain.tip().slot + 1n));
  const balance = (address: string) => chain.state().tokens.get(address)?.amount ?? 0n;
  return {
    chain,
    who,
    terms,
    run,
    now,
    init: (changes = {}) => run({ kind: 'init_policy', ...terms, ...changes }),
    policy: () => found(chain.state().policies.get(at.policy)),
    venue: (tokenAccount) => found(chain.state().venues.get(venueKey(tokenAccount))),
    pairs: () => livePairs([...chain.state().venues.values()]),
    balance: (account) => balance(at[account]),
    tokens: balance,
    pay: (account, amount) => run({ kind: 'transfer', account, amount, direction: 'in' }),
    register: async (name, changes = {}) => {
      const tokenAccount = seededKey(name);
      const tx = await run({
        kind: 'register_venue_account',
        ...{ mint, by: terms.authority, tokenAccount, remoteAccount: ZERO_KEY },
        ...{ venueKind: LOCAL, assetClass: 1, assetMint: terms.quoteMint, ...changes },
      });
      if (tx.failed !== null) throw new Error(tx.failed);
      return tokenAccount;
    },
    report: (tokenAccount, equity, changes = {}) =>
      run({
        kind: 'report_remote_equity',
        ...{ mint, by: who.reporter, tokenAccount, equity, notional: 0n, asof: now(), ...changes },
      }),
  };
}
