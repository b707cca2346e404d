import { FIRST_DERIVED_POSITION } from '../../../schemas/extract/groups.ts';
import type { Store } from '../../client.ts';
import { AT_LOW_COST } from './ranges.ts';

/** What a policy account counts that events tell too, decimal strings. */
export interface Counters {
  fees_claimed: string;
  protocol_fees: string;
  routed_to_bankroll: string;
  profit_swept: string;
  paid_to_holders: string;
  tokens_burned: string;
  credit_spent: string;
  venue_count: string;
}

/** The same as events sum it; null where derived ones cannot tell it. */
export type EventCounters = Omit<Counters, 'venue_count'> & { venue_count: string | null };

export interface CountedState extends Counters {
  address: string;
  mint: string;
  /** Slot of the state. */
  slot: string;
}

const STATE = `SELECT address, mint, slot, toString(fees_claimed) AS fees_claimed,
  toString(protocol_fees) AS protocol_fees, toString(routed_to_bankroll) AS routed_to_bankroll,
  toString(profit_swept) AS profit_swept, toString(paid_to_holders) AS paid_to_holders,
  toString(tokens_burned) AS tokens_burned, toString(credit_spent) AS credit_spent,
  toString(venue_count) AS venue_count
FROM policies FINAL`;

/** The next policies behind an address, in their order. */
export function countedStates(store: Store, after: string, limit: number): Promise<CountedState[]> {
  return store.query<CountedState>(
    `${STATE} WHERE exists = 1 AND address > {after:String} ORDER BY address LIMIT {limit:UInt32} ${AT_LOW_COST}`,
    { after, limit },
  );
}

/** Those at these addresses that exist. */
export function statesOf(store: Store, addresses: readonly string[]): Promise<CountedState[]> {
  return store.query<CountedState>(
    `${STATE} WHERE exists = 1 AND address IN {addresses:Array(String)} ORDER BY address ${AT_LOW_COST}`,
    { addresses },
  );
}

/**
 * The same from the events of each mint up to its own slot. routed_to_lp is not among them: compound_lp raises it
 * and emits nothing; nor is hwm, which is a level and no sum.
 */
export async function countersFromEvents(
  store: Store,
  states: readonly Pick<CountedState, 'mint' | 'slot'>[],
): Promise<Map<string, EventCounters>> {
  if (states.length === 0) return new Map();
  const rows = await store.query<EventCounters & { mint: string }>(
    `SELECT e.mint AS mint,
       toString(sumIf(toUInt128(amount_a), kind = 'FeesClaimed')) AS fees_claimed,
       toString(sumIf(toUInt128(amount_b), kind = 'Routed')) AS protocol_fees,
       toString(sumIf(toUInt128(amount_d), kind = 'Routed')) AS routed_to_bankroll,
       toString(sumIf(toUInt128(amount_b) + amount_c, kind = 'ProfitSwept')) AS profit_swept,
       toString(sumIf(toUInt128(amount_a), kind = 'BuybackBurned')) AS paid_to_holders,
       toString(sumIf(toUInt128(amount_b), kind = 'BuybackBurned')
         + sumIf(toUInt128(amount_a), kind = 'BaseLegBurned')) AS tokens_burned,
       toString(sumIf(toUInt128(amount_a), kind = 'CreditNoted')) AS credit_spent,
       if(countIf(position >= ${FIRST_DERIVED_POSITION} AND kind IN ('VenueRegistered', 'VenueRevoked')) > 0, NULL,
         toString(toInt64(countIf(kind = 'VenueRegistered')) - toInt64(countIf(kind = 'VenueRevoked')))) AS venue_count
     FROM events AS e FINAL
     WHERE e.mint IN {mints:Array(String)}
       AND e.slot <= transform(e.mint, {mints:Array(String)}, {slots:Array(UInt64)}, toUInt64(0))
     GROUP BY e.mint
     ${AT_LOW_COST}`,
    { mints: states.map(({ mint }) => mint), slots: states.map(({ slot }) => BigInt(slot)) },
  );
  return new Map(rows.map((row) => [row.mint, row]));
}
