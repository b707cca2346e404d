import type { AccountColumns, CamelCase, Plain, PlainField } from '../../schemas/program/account-fields.ts';
import { camelCase } from '../../schemas/program/idl.ts';
import type { CoinResponse } from '../../schemas/responses/coin/coin.ts';

/** The reason for a row that was written before there was a column for the field. */
export const NOT_READ_SINCE_ADDED = 'this account was not read since the indexer began to store the field';

/** The policy's fields that are shown as they are. */
export function plainView(
  policy: Pick<AccountColumns<'Policy'>, PlainField>,
  fields: readonly Plain[],
): Pick<CoinResponse, CamelCase<PlainField>> {
  const shown: Record<string, string | number | boolean | null> = {};
  for (const { column, kind, added } of fields) {
    const name = camelCase(column);
    const value: string | number | null = policy[column];
    shown[name] = kind === 'flag' && value !== null ? value === 1 : value;
    if (added && value === null) shown[`${name}AbsentReason`] = NOT_READ_SINCE_ADDED;
  }
  return shown as Pick<CoinResponse, CamelCase<PlainField>>;
}
