import type { Term } from '../../../clickhouse/queries/audit-first-slot.ts';
import { mintRanges } from '../../../clickhouse/queries/audit-ranges.ts';
import {
  type PartitionTotals,
  recomputedTotals,
  storedTotals,
} from '../../../clickhouse/queries/audit-totals.ts';
import { unappliedOfMint } from '../../../clickhouse/queries/audit-unapplied.ts';
import { readConsistently } from './consistent-read.ts';
import type { AuditContext } from './context.ts';
import { firstDivergence } from './divergence.ts';

const MINTS_AT_ONCE = 200;

type Figure = Exclude<keyof PartitionTotals, 'mint' | 'log_partition'>;

/** What each figure sums; null for a time. */
const FIGURES: Record<Figure, readonly Term[] | null> = {
  fees_quote: ['FeesClaimed.a'],
  fees_base: ['FeesClaimed.b'],
  claim_count: ['FeesClaimed.count'],
  last_claim: null,
  routed: ['Routed.a'],
  protocol_cut: ['Routed.b'],
  routed_to_lp: ['Routed.c'],
  routed_to_bankroll: ['Routed.d'],
  last_routed: null,
  profit: ['ProfitSwept.a'],
  profit_to_lp: ['ProfitSwept.b'],
  profit_to_holders: ['ProfitSwept.c'],
  last_swept: null,
  buyback_spent: ['BuybackBurned.a'],
  buyback_burned: ['BuybackBurned.b'],
  last_buyback: null,
  event_count: ['*.count'],
};

/** Recomputes policy_totals from the events, some mints at a time. */
export async function auditTotals(context: AuditContext): Promise<void> {
  const { store, report, signal } = context;
  for await (const range of mintRanges(store, MINTS_AT_ONCE)) {
    if (signal.aborted) return;
    const pairs = paired(await storedTotals(store, range), await recomputedTotals(store, range));
    const suspects = new Set(pairs.filter((pair) => differing(pair).length > 0).map(({ mint }) => mint));
    report.compared('policy totals', pairs.filter(({ mint }) => !suspects.has(mint)).length);
    for (const mint of suspects) await lookAgain(context, mint);
  }
}

async function lookAgain(context: AuditContext, mint: string): Promise<void> {
  const { store, report } = context;
  const only = { first: mint, last: mint };
  const read = await readConsistently(
    {
      facts: () => recomputedTotals(store, only),
      unapplied: () => unappliedOfMint(store, mint),
      stored: () => storedTotals(store, only),
    },
    context,
  );
  if (!read.consistent) return report.notComparable('policy totals', read.reason);
  const pairs = paired(read.stored, read.facts);
  report.compared('policy totals', pairs.length);
  for (const pair of pairs) {
    for (const figure of differing(pair)) {
      const values = { events: String(pair.facts?.[figure] ?? 0), other: String(pair.stored?.[figure] ?? 0) };
      report.difference('policy totals', {
        mint,
        figure: `policy_totals.${figure} of partition ${pair.partition}`,
        values: [
          ['served', values.other],
          ['events', values.events],
        ],
        slot: await firstDivergence(
          context,
          { of: 'mint', mint, partition: pair.partition, upTo: null },
          FIGURES[figure],
          values,
        ),
      });
    }
  }
}

interface Pair {
  mint: string;
  partition: number;
  stored: PartitionTotals | undefined;
  facts: PartitionTotals | undefined;
}

function paired(stored: readonly PartitionTotals[], facts: readonly PartitionTotals[]): Pair[] {
  const pairs = new Map<string, Pair>();
  const pairOf = ({ mint, log_partition: partition }: PartitionTotals) => {
    const key = `${mint}/${partition}`;
    const known = pairs.get(key) ?? { mint, partition, stored: undefined, facts: undefined };
    pairs.set(key, known);
    return known;
  };
  for (const row of stored) pairOf(row).stored = row;
  for (const row of facts) pairOf(row).facts = row;
  return [...pairs.values()];
}

/** A row that is not there says 0 and no time. */
function differing({ stored, facts }: Pair): Figure[] {
  return (Object.keys(FIGURES) as Figure[]).filter((figure) => {
    const nothing = FIGURES[figure] === null ? null : '0';
    return (stored?.[figure] ?? nothing) !== (facts?.[figure] ?? nothing);
  });
}
