import type { Cell } from '../charts/numbers.ts';
import type { Shown } from '../parts/panel.ts';
import { grouped, inBaseUnits, type Unit } from '../text/amounts.ts';
import { stamp } from '../text/times.ts';
import { cellOf, equityOf, localOf, type Row } from './rows.ts';

/** The parts of the equity, each stacked on those before it, in the colours of the money loop. */
export const PARTS = [
  ['Unspent', 'bankroll'],
  ['At work on chain', 'local'],
  ['At venues, attested', 'remote'],
] as const;
export const HEADS = ['Equity', ...PARTS.map(([name]) => name), 'High water mark'];

/** In the order of the heads. */
export const cellsOf = (row: Row, { decimals }: Unit): Cell[] =>
  [equityOf(row), row.bankroll, localOf(row), row.attested, row.hwm].map((amount) =>
    cellOf(amount, decimals),
  );

interface Told {
  quote: Unit;
  name: string;
  /** The path of the API that has the numbers of a time. */
  pathAt(time: string): string | null;
}

/** The numbers of a moment, for the panel. */
export function shownOf(row: Row, { quote, name, pathAt }: Told): Shown {
  const { base } = equityOf(row);
  const { seen } = row;
  const [equity, ...parts] = cellsOf(row, quote) as [Cell, ...Cell[]];
  const text = ({ value, reason }: Cell) =>
    value !== null ? grouped(value) : reason === equity.reason ? 'absent' : `absent: ${reason}`;
  return {
    name,
    ...{ value: equity.value, exact: grouped(equity.value ?? ''), unit: unitName(quote) },
    base: base === null ? null : inBaseUnits(base.toString(), quote.decimals),
    ...{
      source: row.isUnseen ? 'not seen on this page' : 'computed: its parts added up',
      asOf: row.asOf,
      path: row.isUnseen ? null : seen === undefined ? pathAt(row.time) : seen.path,
      absent: equity.value === null,
      reason: equity.reason,
    },
    more: [
      ['At', `${stamp(row.time)} UTC`],
      ...parts.map((part, at) => [HEADS[at + 1] as string, text(part)] as const),
    ],
  };
}

export const unitName = ({ decimals, symbol }: Unit) =>
  decimals === null ? 'base units' : (symbol ?? 'the quote asset');
