import {
  allDays,
  type DayRange,
  type PartitionDay,
  recomputedDays,
  storedDays,
} from '../../../clickhouse/queries/audit-days.ts';
import type { Term } from '../../../clickhouse/queries/audit-first-slot.ts';
import { unappliedOfDays } from '../../../clickhouse/queries/audit-unapplied.ts';
import { readConsistently } from './consistent-read.ts';
import type { AuditContext } from './context.ts';
import { firstDivergence } from './divergence.ts';

const DAY_SECONDS = 86_400;
const DAYS_AT_ONCE = 16;

type Figure = Exclude<keyof PartitionDay, 'day' | 'quote_mint' | 'log_partition'>;

/** What each figure sums; null for a time. */
const FIGURES: Record<Figure, readonly Term[] | null> = {
  routed_to_lp: ['Routed.c'],
  routed_to_bankroll: ['Routed.d'],
  protocol_cut: ['Routed.b'],
  profit: ['ProfitSwept.a'],
  buyback_spent: ['BuybackBurned.a'],
  event_count: ['*.count'],
  last_event: null,
};

/** Recomputes quote_days from the events, some days at a time. */
export async function auditDays(context: AuditContext): Promise<void> {
  const { store, report, signal } = context;
  const all = await allDays(store);
  if (all === null) return;
  for (let from = all.from; from < all.to && !signal.aborted; from += DAYS_AT_ONCE * DAY_SECONDS) {
    const range = { from, to: Math.min(all.to, from + DAYS_AT_ONCE * DAY_SECONDS) };
    const pairs = paired(await storedDays(store, range), await recomputedDays(store, range));
    const suspects = new Set(pairs.filter((pair) => differing(pair).length > 0).map(({ day }) => day));
    report.compared('days', pairs.filter(({ day }) => !suspects.has(day)).length);
    for (const day of suspects) await lookAgain(context, day);
  }
}

async function lookAgain(context: AuditContext, day: string): Promise<void> {
  const { store, report } = context;
  const from = Date.parse(`${day}T00:00:00Z`) / 1000;
  const range: DayRange = { from, to: from + DAY_SECONDS };
  const read = await readConsistently(
    {
      facts: () => recomputedDays(store, range),
      unapplied: () => unappliedOfDays(store, range),
      stored: () => storedDays(store, range),
    },
    context,
  );
  if (!read.consistent) return report.notComparable('days', read.reason);
  const pairs = paired(read.stored, read.facts);
  report.compared('days', pairs.length);
  for (const pair of pairs) {
    const { quoteMint, partition } = pair;
    for (const figure of differing(pair)) {
      const values = { events: String(pair.facts?.[figure] ?? 0), other: String(pair.stored?.[figure] ?? 0) };
      report.difference('days', {
        mint: null,
        figure: `quote_days.${figure} of ${day}, quote ${quoteMint || 'none'}, partition ${partition}`,
        values: [
          ['served', values.other],
          ['events', values.events],
        ],
        slot: await firstDivergence(
          context,
          { of: 'day', ...range, quoteMint, partition },
          FIGURES[figure],
          values,
        ),
      });
    }
  }
}

interface Pair {
  day: string;
  quoteMint: string;
  partition: number;
  stored: PartitionDay | undefined;
  facts: PartitionDay | undefined;
}

function paired(stored: readonly PartitionDay[], facts: readonly PartitionDay[]): Pair[] {
  const pairs = new Map<string, Pair>();
  const pairOf = ({ day, quote_mint: quoteMint, log_partition: partition }: PartitionDay) => {
    const key = `${day}/${quoteMint}/${partition}`;
    const known = pairs.get(key) ?? { day, quoteMint, partition, stored: undefined, facts: undefined };
    pairs.set(key, known);
    return known;
  };
  for (const row of stored) pairOf(row).stored = row;
  for (const row of facts) pairOf(row).facts = row;
  return [...pairs.values()];
}

/** A row that is not there says 0 and no time, and so does one whose last event went to another day. */
function differing({ stored, facts }: Pair): Figure[] {
  return (Object.keys(FIGURES) as Figure[]).filter((figure) => {
    const nothing = FIGURES[figure] === null ? null : '0';
    return (stored?.[figure] ?? nothing) !== (facts?.[figure] ?? nothing);
  });
}
