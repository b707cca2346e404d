import type { QuoteSumsAt, QuoteSumsNow } from '../../../clickhouse/queries/history/quote-sums.ts';
import { absent, type Figure, figure } from '../../../schemas/figure.ts';
import type { QuoteHistory } from '../../../schemas/responses/history.ts';
import { timeOf } from '../../../schemas/units.ts';
import { BALANCE_SOURCE, otherAsset } from '../../figures/balances.ts';
import { ATTESTED_SOURCE } from '../../figures/sources.ts';
import { oldest } from '../../figures/times.ts';
import { type Counter, FEES_CLAIMED, PROFIT_SWEPT } from '../counters.ts';
import { DEPLOYED_SOURCE } from '../venues.ts';

type Figures = Omit<QuoteHistory, 'quoteMint' | 'quoteSymbol' | 'decimals' | 'policyCount'>;

/** The sums at a moment of which nothing is known. */
export const NO_SUMS: QuoteSumsAt = {
  ...{ step: 0, quote_mint: '', policies: '0', hwm: '0', fees_claimed: '0', profit_swept: '0' },
  ...{ venue_count: '0', policies_time: null, bankrolls: '0', bankroll: '0', bankroll_time: null },
  ...{ venues: '0', lost_venues: '0', unattested: '0', attested: '0', attested_time: null },
  ...{ locals: '0', local_balances: '0', local: '0', local_time: null },
};

/**
 * The sums over the policies of a quote asset, each present where every part of it is known.
 * @param either a counter from events, for where not every account is known.
 */
export function quoteSums(
  sums: QuoteSumsAt | QuoteSumsNow,
  policies: number,
  either: (counter: Counter) => Figure | null,
): Figures {
  const known = part(sums.policies, policies, 'accounts of policies are known of that moment');
  const sum = (field: 'hwm' | 'fees_claimed' | 'profit_swept') =>
    of(`chain:Policy.${field}`, known, sums[field], timeOf(sums.policies_time));
  const counter = (one: Counter & { field: 'fees_claimed' | 'profit_swept' }): Figure => {
    const ofEvents = known === null ? null : either(one);
    if (ofEvents === null) return sum(one.field);
    return ofEvents.absent ? absent(ofEvents.source, `${known}; ${ofEvents.reason}`) : ofEvents;
  };
  const remote = known ?? venuesReason(sums);
  const unattested =
    sums.unattested === '0'
      ? null
      : `${sums.unattested} venue ${sums.unattested === '1' ? 'account has' : 'accounts have'} no attestation yet`;
  const other: QuoteSumsNow['other_asset'] = 'other_asset' in sums ? sums.other_asset : [];
  const local =
    other.length === 0
      ? part(
          sums.local_balances,
          Number(sums.locals),
          'balances at venues are known, and there, at that moment',
        )
      : otherAsset(...other);
  const attestedTime = timeOf(sums.attested_time) ?? timeOf(sums.policies_time);
  const hasRemote = sums.attested_time !== null;
  const hasLocal = sums.locals !== '0';
  const times = [
    ...(hasRemote ? [attestedTime] : []),
    ...(hasLocal ? [timeOf(sums.local_time)] : []),
    ...(hasRemote || hasLocal ? [] : [timeOf(sums.policies_time)]),
  ];
  return {
    bankroll: of(
      BALANCE_SOURCE,
      part(sums.bankrolls, policies, 'bankrolls are known of that moment'),
      sums.bankroll,
      timeOf(sums.bankroll_time),
    ),
    deployed: of(
      DEPLOYED_SOURCE,
      remote ?? unattested ?? local,
      (BigInt(sums.attested) + BigInt(sums.local)).toString(),
      oldest(times),
    ),
    attestedEquity: of(ATTESTED_SOURCE, remote ?? unattested, sums.attested, attestedTime),
    hwm: sum('hwm'),
    feesClaimed: counter(FEES_CLAIMED),
    profitSwept: counter(PROFIT_SWEPT),
  };
}

const of = (source: string, reason: string | null, value: string, asOf: string | null): Figure =>
  reason === null ? figure(value, source, asOf) : absent(source, reason);

const part = (known: string, all: number, what: string): string | null =>
  Number(known) === all ? null : `${known} of ${all} ${what}`;

function venuesReason({ venues, lost_venues, venue_count }: QuoteSumsAt): string | null {
  if (lost_venues !== '0')
    return `what ${lost_venues} venue ${lost_venues === '1' ? 'account was' : 'accounts were'} at that moment is not known`;
  return part(venues, Number(venue_count), 'venue accounts are known of that moment');
}
