import type { RemoteAccount } from '../../clickhouse/queries/states/poll-targets.ts';

/** So many readings are half of what a round has room for (`venues/perp.ts`). */
const ATTESTED_FIRST = 150;

/**
 * In which order a venue's accounts are read. Half of a round is for those that were ever attested, which nobody makes by
 * himself; behind them one of the others and one of theirs in turns.
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
 * One account of each policy, then the next of each: however many one of them has, it holds up no other. Those that were
 * never asked for are first, then by when they were.
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
