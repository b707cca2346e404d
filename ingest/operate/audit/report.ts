import { OPEN_GAP } from './history-state.ts';

/** What is compared with what. */
export type Subject =
  | 'policy totals'
  | 'days'
  | 'event kinds'
  | 'event tables'
  | 'chain counters'
  | 'hours'
  | 'account states';

/** One figure that two sources tell differently. */
export interface Difference {
  /** Null for a figure of no single mint. */
  mint: string | null;
  figure: string;
  /** Names of the sources, and what each says. */
  values: readonly [[source: string, value: string], [source: string, value: string]];
  /** The first slot at which they differ; null where that is not known. */
  slot: string | null;
}

export interface Report {
  compared(subject: Subject, count: number): void;
  /** What could not be compared, and why; never counted as equal. */
  notComparable(subject: Subject, reason: string, count?: number): void;
  difference(subject: Subject, difference: Difference): void;
  /** One sentence of what was compared. */
  summary(): string;
  differences(): number;
  /**
   * What should have been compared and was not, where an operator has to act on it; null where there is no such thing.
   */
  shortfall(): string | null;
}

const SUBJECTS: readonly Subject[] = [
  'policy totals',
  'days',
  'event kinds',
  'event tables',
  'chain counters',
  'hours',
  'account states',
];

/** Prints each difference when it is found, and counts the rest. */
export function createReport(print: (line: string) => void): Report {
  const compared = new Map<Subject, number>(SUBJECTS.map((subject) => [subject, 0]));
  const reasons = new Map<string, number>();
  let found = 0;
  return {
    compared: (subject, count) => void compared.set(subject, (compared.get(subject) ?? 0) + count),
    notComparable: (subject, reason, count = 1) => {
      const key = `${subject}: ${reason}`;
      reasons.set(key, (reasons.get(key) ?? 0) + count);
    },
    difference: (_, difference) => {
      found += 1;
      print(differenceLine(difference));
    },
    summary: () => {
      const counts = [...compared].map(([subject, count]) => `${count} ${subject}`).join(', ');
      const left = [...reasons].sort().map(([reason, count]) => `${count} ${reason}`);
      const notCompared = left.length === 0 ? '' : `; not comparable: ${left.join('; ')}`;
      return `compared ${counts}${notCompared}; ${found} ${found === 1 ? 'difference' : 'differences'}`;
    },
    differences: () => found,
    shortfall: () => {
      const none = [...compared].filter(([, count]) => count === 0).map(([subject]) => subject);
      if (none.length === compared.size) return 'nothing could be compared';
      const left = none.filter((subject) =>
        [...reasons.keys()].some((key) => key.startsWith(`${subject}: `)),
      );
      if (left.length > 0) return `none of these could be compared: ${left.join(', ')}`;
      return [...reasons.keys()].some((key) => key.endsWith(OPEN_GAP))
        ? `not all could be compared, for ${OPEN_GAP}: run it again once it is closed`
        : null;
    },
  };
}

function differenceLine({ mint, figure, values, slot }: Difference): string {
  const [[one, left], [other, right]] = values;
  const where = slot === null ? 'first slot unknown' : `first at slot ${slot}`;
  return `difference  ${mint ?? '-'}  ${figure}  ${one} ${left}  ${other} ${right}  ${where}`;
}
