/** One line of the table; `ok` is null where there is no bar. */
export interface Row {
  name: string;
  value: string;
  ok: boolean | null;
}

/** A number for a line, with as many digits as are meaningful. */
export const formatNumber = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
