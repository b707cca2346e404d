import type { Chain, ChainState } from '../../../devnet/chain/chain.ts';
import type { TypedEvent } from '../../../devnet/program/state/events.ts';
import type { Policy, ProtocolConfig } from '../../../devnet/program/state/state.ts';

/** An event of the ledger with its place. */
export interface PlacedEvent {
  kind: TypedEvent['kind'];
  fields: Record<string, unknown>;
  slot: bigint;
  index: number;
  position: number;
  signature: string;
  blockTime: number;
}

/** The ledger at its tip, as the oracle looks at it. Nothing here comes from the product. */
export interface View {
  chain: Chain;
  state: ChainState;
  config: ProtocolConfig;
  policies: readonly Policy[];
  /** Oldest first. */
  events: readonly PlacedEvent[];
  eventsOf(mint: string): readonly PlacedEvent[];
  /** The newest transaction with an event of the policy, or with a call of the program that may write to it. */
  lastTransaction(policy: Policy): { signature: string; slot: bigint } | undefined;
  /** Signatures of later transactions of other programs that name the policy writable. */
  mentionedSince(policy: Policy): readonly string[];
  /** Unix seconds of the tip, which is the product's clock. */
  now: number;
  /** Whether pollers wrote to the index: the oracle does not know what they read. */
  polled: boolean;
  /** The last time at which the index had everything, if it missed nothing from then to `moment`; null otherwise. */
  watchedSince(moment: number): number | null;
}

export function viewOf(chain: Chain, polled: boolean, watchedSince: View['watchedSince'] = () => null): View {
  const state = chain.state();
  const events: PlacedEvent[] = [];
  const byMint = new Map<string, PlacedEvent[]>();
  const newest = new Map<string, { signature: string; slot: bigint; mentioned: string[] }>();
  for (const { slot, blockTime, transactions } of chain.history()) {
    for (const { signature, index, failed, events: own, writablePolicies, mentioned } of transactions) {
      if (failed !== null) continue;
      for (const policy of writablePolicies) newest.set(policy, { signature, slot, mentioned: [] });
      for (const address of mentioned) newest.get(address)?.mentioned.push(signature);
      own.forEach(({ kind, fields }, position) => {
        const placed = { kind, fields: fields as never, slot, index, position, signature, blockTime };
        events.push(placed);
        const mint = 'mint' in fields ? fields.mint : null;
        if (mint === null) return;
        newest.set((placed.fields as { policy: string }).policy, { signature, slot, mentioned: [] });
        const known = byMint.get(mint);
        if (known === undefined) byMint.set(mint, [placed]);
        else known.push(placed);
      });
    }
  }
  const config = state.configs.get(chain.addresses.config.address);
  if (config === undefined) throw new Error('the chain has no configuration yet');
  const eventsOf = (mint: string) => byMint.get(mint) ?? [];
  const lastTransaction = (policy: Policy) => newest.get(policy.address);
  const mentionedSince = (policy: Policy) => newest.get(policy.address)?.mentioned ?? [];
  const now = chain.timeOf(chain.tip().slot);
  const policies = [...state.policies.values()];
  const lasts = { lastTransaction, mentionedSince };
  return { chain, state, config, policies, events, eventsOf, ...lasts, now, polled, watchedSince };
}

/** The events in (now − 24 h, now]. */
export function lastDay(view: View, events: readonly PlacedEvent[]): PlacedEvent[] {
  return events.filter(({ blockTime }) => blockTime > view.now - 86_400 && blockTime <= view.now);
}

export function ofKind(events: readonly PlacedEvent[], kind: PlacedEvent['kind']): PlacedEvent[] {
  return events.filter((event) => event.kind === kind);
}

export function total(events: readonly PlacedEvent[], field: string): bigint {
  return events.reduce((sum, event) => sum + (event.fields[field] as bigint), 0n);
}
