import type { Chain } from '../chain/chain.ts';
import type { TypedEvent } from '../program/state/events.ts';
import { createRandom } from '../program/state/random.ts';
import { AGENT, type Key, type Policy } from '../program/state/state.ts';
import { idleRemark, type Remark, remarkOn } from './remarks.ts';
import { arrivedAt, holdings, type Scene, unitOf } from './scene.ts';

/** A remark that has not been posted yet. */
export interface Waiting {
  remark: Remark;
  /** Names what the remark is about and seeds its random choices. */
  label: string;
  /** When it was made, by `performance.now()`. */
  at: number;
}

export interface Hearing {
  /** The newest remark of each policy, by its mint. */
  waiting: Map<Key, Waiting>;
  policyOf(mint: Key): Policy | undefined;
  /** A remark for when nothing happened; null where the policy is not run by an agent. */
  nothingNew(mint: Key): Waiting | null;
  close(): void;
}

/** Makes remarks of what the chain's blocks do to these policies. @param numbers in the world, by policy mint */
export function hear(chain: Chain, numbers: ReadonlyMap<Key, number>): Hearing {
  const waiting = new Map<Key, Waiting>();
  const reported = new Map<Key, { equity: bigint; arrived: bigint }>();

  const policyOf = (mint: Key): Policy | undefined => {
    const policy = chain.state().policies.get(chain.addresses.ofPolicy(mint).policy);
    return policy?.mode === AGENT ? policy : undefined;
  };
  const sceneOf = (policy: Policy, label: string, tokenAccount: Key | null): Scene => {
    const entry = tokenAccount === null ? null : chain.addresses.venue(policy.address, tokenAccount).address;
    const venue = entry === null ? null : (chain.state().venues.get(entry) ?? null);
    const before = venue === null ? undefined : reported.get(venue.tokenAccount);
    return {
      policy,
      venue,
      before: before?.equity ?? null,
      arrived: venue === null || before === undefined ? 0n : arrivedAt(chain, venue) - before.arrived,
      ...holdings(chain, policy),
      unit: unitOf(chain.seed, numbers.get(policy.mint) as number),
      random: createRandom(`remark:${label}`),
    };
  };

  const close = chain.subscribe(({ slot, transactions }) => {
    const events = transactions.flatMap((transaction) => transaction.events);
    // Sent money arrives through several reports in one block: only the last report of an account makes a remark.
    const newest = new Map<Key, TypedEvent>();
    for (const event of events)
      if (event.kind === 'RemoteEquityReported') newest.set(event.fields.tokenAccount, event);
    for (const event of events) {
      const { mint = '', tokenAccount = null } = event.fields as { mint?: Key; tokenAccount?: Key };
      const policy = numbers.has(mint) ? policyOf(mint) : undefined;
      if (policy === undefined) continue;
      const isReport = event.kind === 'RemoteEquityReported';
      if (isReport && newest.get(event.fields.tokenAccount) !== event) continue;
      const label = `${mint}:${slot}:${event.kind}`;
      const scene = sceneOf(policy, label, tokenAccount);
      const remark = remarkOn(event, scene);
      if (isReport && scene.venue !== null)
        reported.set(event.fields.tokenAccount, {
          equity: event.fields.equity,
          arrived: arrivedAt(chain, scene.venue),
        });
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
