import type { TokenAccountRow } from '../../clickhouse/queries/states/token-accounts.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { timeOf } from '../../schemas/units.ts';
import { oldest } from './times.ts';

export const BALANCE_SOURCE = 'chain:getTokenAccountBalance';

/** The balance of a token account; absent where it was not read or does not exist. */
export function balanceOf(address: string, row: Omit<TokenAccountRow, 'mint'> | undefined): Figure {
  if (row === undefined) return absent(BALANCE_SOURCE, `not read yet: ${address}`);
  if (row.exists === 0) return absent(BALANCE_SOURCE, `no account at ${address}`);
  return figure(row.amount, BALANCE_SOURCE, timeOf(row.block_time));
}

/**
 * The mint of a token account that is registered with `asset`: its owner may close it and open it again for another
 * mint. Where its mint is not known, it is taken to be `asset`.
 */
export function mintIn(asset: string, row: TokenAccountRow | undefined): string {
  return row?.exists === 1 && row.mint !== '' ? row.mint : asset;
}

/**
 * The balance of an account that is registered with `asset`; absent where it is of another mint, whose amount says
 * nothing. Accounts at the program's own addresses need no such check: only the program can open them.
 */
export function balanceIn(asset: string, address: string, row: TokenAccountRow | undefined): Figure {
  const mint = mintIn(asset, row);
  return mint === asset ? balanceOf(address, row) : absent(BALANCE_SOURCE, otherAsset(address, mint, asset));
}

export const otherAsset = (address: string, mint: string, asset: string): string =>
  `the token account ${address} is of ${mint}, not of ${asset}, which it is registered with`;

/**
 * The sum of amounts, as old as the oldest of them; absent, for the reason of the first absent one, where any is.
 * @param none asOf of an empty sum, which is zero.
 */
export function sumOf(figures: readonly Figure[], source: string, none: string | null): Figure {
  const missing = figures.find((one) => one.absent);
  if (missing !== undefined) return absent(source, missing.reason ?? 'one of the amounts is absent');
  const total = figures.reduce((sum, one) => sum + BigInt(one.value ?? 0), 0n);
  return figure(total, source, figures.length === 0 ? none : oldest(figures.map((one) => one.asOf)));
}
