/** One line of the table; `ok` is null where there is no bar. */
export interface Row {
  name: string;
  value: string;
  ok: boolean | null;
}
