import type { RemoteAccount } from '../../clickhouse/queries/states/poll-targets.ts';

/** Half of the readings that a round has room for (`venues/perp.ts`). */
const ATTESTED_FIRST = 150;

/**
 * The order in which a venue's accounts are read. The first half of a round is for accounts that were ever attested,
 * which no stranger makes alone; behind them come the others and the rest of those, in turns.
 * @param askedAt when each was asked for last
 */
export function accountTurns(
  accounts: readonly RemoteAccount[],
  askedAt: ReadonlyMap<string, number>,
): RemoteAccount[] {
  const attested = inTurns(
    accounts.filter((account) => account.attested === 1),
    askedAt,
  );
  const others = inTurns(
    accounts.filter((account) => account.attested !== 1),
    askedAt,
  );
  const first = attested.splice(0, ATTESTED_FIRST);
  const most = Math.max(others.length, attested.length);
  const rest = Array.from({ length: most }, (_, n) => [
    ...others.slice(n, n + 1),
    ...attested.slice(n, n + 1),
  ]);
  return [...first, ...rest.flat()];
}

/**
 * One account of each policy, then the next of each: a policy with many accounts holds up no other. Accounts that were
 * never asked for come first, then those that were asked for the longest ago.
 */
function inTurns(accounts: readonly RemoteAccount[], askedAt: ReadonlyMap<string, number>): RemoteAccount[] {
  const at = ({ address }: RemoteAccount) => askedAt.get(address) ?? 0;
  const oldestFirst = accounts.toSorted((one, other) => at(one) - at(other));
  const turns = [...Map.groupBy(oldestFirst, ({ policy }) => policy).values()].flatMap((own) =>
    own.map((account, turn) => ({ account, turn })),
  );
  return turns
    .toSorted((one, other) => one.turn - other.turn || at(one.account) - at(other.account))
    .map(({ account }) => account);
}
