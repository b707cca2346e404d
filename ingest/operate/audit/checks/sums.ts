import type { SummedEvents, Term } from '../../../../clickhouse/queries/audit/first-slot.ts';
import { readConsistently } from '../consistent-read.ts';
import type { AuditContext } from '../context.ts';
import type { Subject } from '../report.ts';
import { firstDivergence } from './divergence.ts';

/** A table of sums beside the events it sums. */
export interface AuditedSums<Figure extends string, Row extends Record<Figure, string | null>, Range> {
  subject: Subject;
  /** What each figure sums; null for a time. */
  figures: Record<Figure, readonly Term[] | null>;
  stored(range: Range): Promise<Row[]>;
  recomputed(range: Range): Promise<Row[]>;
  /** How many events of the range are of a batch that has not written all that follows from them. */
  unapplied(range: Range): Promise<number>;
  /** The group of a row: its rows are read again together where one of them differs. `rangeOf` is the group's range. */
  groupOf(row: Row): string;
  rangeOf(group: string): Range;
  /** What names a row in its group. */
  nameOf(row: Row): string;
  /** The events that a row sums, and what a difference in it is called. */
  eventsOf(row: Row): SummedEvents;
  told(row: Row, figure: Figure): { mint: string | null; figure: string };
}

interface Pair<Row> {
  /** The stored or the recomputed row, whichever there is. */
  row: Row;
  stored: Row | undefined;
  facts: Row | undefined;
}

/** Compares the sums of a range with what the events say now; groups that differ are read again, consistently. */
export async function auditSums<Figure extends string, Row extends Record<Figure, string | null>, Range>(
  context: AuditContext,
  sums: AuditedSums<Figure, Row, Range>,
  range: Range,
): Promise<void> {
  const { report } = context;
  const { subject, figures } = sums;
  const names = Object.keys(figures) as Figure[];

  const paired = (stored: readonly Row[], facts: readonly Row[]): Pair<Row>[] => {
    const pairs = new Map<string, Pair<Row>>();
    const pairOf = (row: Row) => {
      const key = `${sums.groupOf(row)}/${sums.nameOf(row)}`;
      const known = pairs.get(key) ?? { row, stored: undefined, facts: undefined };
      pairs.set(key, known);
      return known;
    };
    for (const row of stored) pairOf(row).stored = row;
    for (const row of facts) pairOf(row).facts = row;
    return [...pairs.values()];
  };
  /** A row that is missing says 0 and no time, and so does one whose last event moved to another row. */
  const differing = ({ stored, facts }: Pair<Row>): Figure[] =>
    names.filter((figure) => {
      const nothing = figures[figure] === null ? null : '0';
      return (stored?.[figure] ?? nothing) !== (facts?.[figure] ?? nothing);
    });

  const readAgain = async (group: string): Promise<void> => {
    const own = sums.rangeOf(group);
    const read = await readConsistently(
      {
        facts: () => sums.recomputed(own),
        unapplied: () => sums.unapplied(own),
        stored: () => sums.stored(own),
      },
      context,
    );
    if (!read.consistent) return report.notComparable(subject, read.reason);
    const pairs = paired(read.stored, read.facts);
    report.compared(subject, pairs.length);
    for (const pair of pairs) {
      for (const figure of differing(pair)) {
        const values = {
          events: String(pair.facts?.[figure] ?? 0),
          other: String(pair.stored?.[figure] ?? 0),
        };
        report.difference(subject, {
          ...sums.told(pair.row, figure),
          values: [
            ['served', values.other],
            ['events', values.events],
          ],
          slot: await firstDivergence(context, sums.eventsOf(pair.row), figures[figure], values),
        });
      }
    }
  };

  const pairs = paired(await sums.stored(range), await sums.recomputed(range));
  const suspects = new Set(
    pairs.filter((pair) => differing(pair).length > 0).map(({ row }) => sums.groupOf(row)),
  );
  report.compared(subject, pairs.filter(({ row }) => !suspects.has(sums.groupOf(row))).length);
  for (const group of suspects) await readAgain(group);
}
