import type { Chain } from '../chain/chain.ts';
import { createRandom } from '../program/state/random.ts';
import { AGENT, type Key, type Policy } from '../program/state/state.ts';
import { idleRemark, type Remark, remarkOn } from './remarks.ts';
import { holdings, type Scene, unitOf } from './scene.ts';

/** A remark that nobody has heard yet. */
export interface Waiting {
  remark: Remark;
  /** Names what it is about: the same label draws the same lots. */
  label: string;
  /** By `performance.now()`. */
  at: number;
}

export interface Hearing {
  /** The newest remark of each policy, by its mint. */
  waiting: Map<Key, Waiting>;
  policyOf(mint: Key): Policy | undefined;
  /** Something to say where nothing happened. */
  nothingNew(mint: Key): Waiting | null;
  close(): void;
}

/** Follows the chain for those policies, by their numbers in the world, and makes remarks of what happens to them. */
export function hear(chain: Chain, numbers: ReadonlyMap<Key, number>): Hearing {
  const waiting = new Map<Key, Waiting>();
  const reported = new Map<Key, bigint>();

  const policyOf = (mint: Key): Policy | undefined => {
    const policy = chain.state().policies.get(chain.addresses.ofPolicy(mint).policy);
    return policy?.mode === AGENT ? policy : undefined;
  };
  const sceneOf = (policy: Policy, label: string, tokenAccount: Key | null): Scene => {
    const entry = tokenAccount === null ? null : chain.addresses.venue(policy.address, tokenAccount).address;
    return {
      policy,
      venue: entry === null ? null : (chain.state().venues.get(entry) ?? null),
      before: tokenAccount === null ? null : (reported.get(tokenAccount) ?? null),
      ...holdings(chain, policy),
      unit: unitOf(chain.seed, numbers.get(policy.mint) as number),
      random: createRandom(`remark:${label}`),
    };
  };

  const close = chain.subscribe(({ slot, transactions }) => {
    for (const event of transactions.flatMap(({ events }) => events)) {
      const { mint = '', tokenAccount = null } = event.fields as { mint?: Key; tokenAccount?: Key };
      const policy = numbers.has(mint) ? policyOf(mint) : undefined;
      if (policy === undefined) continue;
      const label = `${mint}:${slot}:${event.kind}`;
      const remark = remarkOn(event, sceneOf(policy, label, tokenAccount));
      if (event.kind === 'RemoteEquityReported') reported.set(event.fields.tokenAccount, event.fields.equity);
      if (remark !== null) waiting.set(mint, { remark, label, at: performance.now() });
    }
  });

  return {
    waiting,
    policyOf,
    nothingNew: (mint) => {
      const policy = policyOf(mint);
      if (policy === undefined) return null;
      const label = `${mint}:${chain.tip().slot}:idle`;
      return { remark: idleRemark(sceneOf(policy, label, null)), label, at: performance.now() };
    },
    close,
  };
}
