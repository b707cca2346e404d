import {
  type CoinHistoryKey,
  type CoinHistoryRows,
  NO_HISTORY,
} from '../../clickhouse/queries/history/coin.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { CoinHistoryItem, CoinHistoryResponse } from '../../schemas/responses/history.ts';
import { HOUR_S, isoTime, timeOf } from '../../schemas/units.ts';
import type { Coin } from '../coin/find.ts';
import { localMaybeOfOtherAssets } from '../coin/venue-account.ts';
import { poolOf } from '../figures/market-cap.ts';
import { incompleteFrom } from '../figures/missing.ts';
import { type Quote, quotesAt } from '../figures/quotes.ts';
import { pageKey } from '../latest/kinds/kind.ts';
import { coinNow } from './coin-now.ts';
import { type Counter, countersAtEnds, FEES_CLAIMED, PROFIT_SWEPT, TOKENS_BURNED } from './counters.ts';
import { type Cover, createCover } from './cover.ts';
import { marketCapAt } from './market-caps.ts';
import { NOT_REACHED, passedHours } from './passed-hours.ts';
import type { Range } from './range.ts';
import { createStates, type StateAt, type States } from './states.ts';
import { type AtVenues, balanceAt, venuesUnknown } from './venues.ts';
import { venuesAtEnds } from './venues-at-ends.ts';

/** `GET /coins/:mint/history` */
export function coinHistory(coin: Coin, range: Range): CoinHistoryResponse {
  const { mint, policy, view, settings } = coin;
  const quote = quotesAt(view, settings, [policy.quote_mint]).get(policy.quote_mint) as Quote;
  const launchpad = view.single('config')?.launchpad_program ?? settings.launchpadProgramId;
  const pool = poolOf(launchpad, mint, policy.quote_mint);
  const ends = range.ends.filter((end) => end > Number(policy.created_at)).map((end) => end / HOUR_S);
  const passed = passedHours(view);
  const key: CoinHistoryKey = {
    ...{ mint, policy: policy.address, bankroll: policy.bankroll, pool, quoteMint: policy.quote_mint },
    ...{ from: (ends[0] ?? 0) - 1, to: Math.min(ends.at(-1) ?? 0, passed) },
  };
  const rows =
    key.to > key.from && ends.length > 0 ? view.get('coinHistory', coinHistoryKey(key)) : NO_HISTORY;
  const answer = (items: CoinHistoryItem[]): CoinHistoryResponse => ({
    ...{ mint, from: isoTime(range.from), to: isoTime(range.to), step: range.step, items },
  });
  const { cover, states } = placed(rows);
  const venues = venuesAtEnds({
    ...{ states, policy: policy.address, view, key: coinHistoryKey(key) },
    ends: ends.filter((end) => end <= passed),
  });
  // The answer is unfinished: it is not sent, but made again once other requests had their turn.
  if (venues === null) return answer([]);
  const itemAt = createItems(coin, rows, { cover, states, venues, pool, decimals: quote.decimals });
  const items = ends.map((end) => itemAt(end, end <= passed));
  if (range.unfinished) items.push({ time: isoTime(range.to), ...coinNow(coin, pool, quote) });
  const others = localMaybeOfOtherAssets(view, policy);
  return { ...answer(items), ...(others.length === 0 ? {} : { localMaybeOfOtherAssets: others }) };
}

/** Made once for the same rows, and shared by all pieces that an answer is made in and by all requests. */
const places = new WeakMap<CoinHistoryRows, Pick<Worked, 'cover' | 'states'>>();

function placed(rows: CoinHistoryRows): Pick<Worked, 'cover' | 'states'> {
  const known = places.get(rows);
  if (known !== undefined) return known;
  const cover = createCover(rows.cover, rows.unseen, rows.carried);
  const made = { cover, states: createStates(rows, cover) };
  places.set(rows, made);
  return made;
}

const coinHistoryKey = ({ mint, policy, bankroll, pool, quoteMint, from, to }: CoinHistoryKey): string =>
  pageKey(mint, policy, bankroll, pool, quoteMint, from, to);

/** What is worked out of the rows of all items before one of them is made. */
interface Worked {
  cover: Cover;
  states: States;
  venues: ReadonlyMap<number, AtVenues>;
  pool: string;
  decimals: number | null;
}

function createItems(
  { mint, policy, view }: Coin,
  rows: CoinHistoryRows,
  { cover, states, venues, pool, decimals }: Worked,
): (end: number, reached: boolean) => CoinHistoryItem {
  const prices = Map.groupBy(rows.prices, ({ hour }) => hour);
  const state = view.state();
  const fromEvents = countersAtEnds({
    ...{ sums: rows.sums, state },
    incomplete: (amount) => incompleteFrom(state, policy.address, amount),
    concerns: (event) => event.mint === mint,
  });
  return (end, reached) => {
    const time = isoTime(end * HOUR_S);
    const at: StateAt = reached ? states.at(policy.address, end) : { row: null, reason: NOT_REACHED };
    const counter = (one: Counter): Figure =>
      at.row !== null || !reached
        ? ofPolicy(at, one.field)
        : either(ofPolicy(at, one.field), fromEvents(one, end, cover.begins(end)));
    const none = (source: string) => absent(source, at.reason ?? NOT_REACHED);
    return {
      time,
      bankroll: reached ? balanceAt(states, policy.bankroll, end) : none('chain:getTokenAccountBalance'),
      ...(venues.get(end) ?? venuesUnknown(at.reason ?? NOT_REACHED)),
      hwm: ofPolicy(at, 'hwm'),
      feesClaimed: counter(FEES_CLAIMED),
      profitSwept: counter(PROFIT_SWEPT),
      tokensBurned: counter(TOKENS_BURNED),
      marketCap: reached
        ? marketCapAt({ states, prices, pool, decimals }, end)
        : { quote: none('computed'), usd: none('computed') },
    };
  };
}

function ofPolicy({ row, reason }: StateAt, field: Counter['field'] | 'hwm'): Figure {
  const source = `chain:Policy.${field}`;
  if (row === null) return absent(source, reason);
  if (row.exists === 0) return absent(source, `no account at ${row.address}`);
  return figure(row[field], source, timeOf(row.block_time));
}

/** For where the account's figure is absent: that of its events, or absent for both reasons. */
function either(ofAccount: Figure, ofEvents: Figure): Figure {
  if (!ofEvents.absent) return ofEvents;
  return absent(ofAccount.source, `${ofAccount.reason}; ${ofEvents.reason}`);
}
