import { activityPage, type EventRow } from '../../../clickhouse/queries/activity/activity.ts';
import { type BridgeRow, bridgeFlow } from '../../../clickhouse/queries/analytics/bridge-flow.ts';
import { daySeries, type QuoteDayRow } from '../../../clickhouse/queries/analytics/day-series.ts';
import {
  type QuoteTotalsRow,
  quotesInUse,
  quoteTotals,
} from '../../../clickhouse/queries/analytics/totals.ts';
import { type RankedPage, rankedPage, readSelection } from '../../../clickhouse/queries/ranking/ranking.ts';
import {
  type CataloguePairRow,
  cataloguePairs,
  hasCatalogue,
  type PairRow,
  pairsOf,
  type QuotePairRow,
  quotePairs,
} from '../../../clickhouse/queries/states/catalogue.ts';
import { type PriceRow, pricesOf } from '../../../clickhouse/queries/states/prices.ts';
import {
  type ModelRow,
  models,
  type OriginRow,
  origins,
} from '../../../clickhouse/queries/states/registries.ts';
import {
  type KindCountRow,
  keeperOfDay,
  lastActions,
} from '../../../clickhouse/queries/status/events-between.ts';
import {
  type ProtocolConfigRow,
  protocolConfig,
} from '../../../clickhouse/queries/status/protocol-config.ts';
import {
  type BacklogRow,
  deadLetterCount,
  feeBacklog,
} from '../../../clickhouse/queries/status/status-counts.ts';
import {
  type ListedState,
  listedState,
  NOTHING_LISTED,
  type StreamStateRow,
  streamState,
} from '../../../clickhouse/queries/status/stream-state.ts';
import {
  type CurrenciesRow,
  currencies,
  newestAttestations,
  type ProgramStatusRow,
  programStatuses,
  type VenueStatusRow,
  venueStatuses,
} from '../../../clickhouse/queries/status/venue-state.ts';
import { HISTORICAL_KINDS } from './historical-kinds.ts';
import { dayWindow, isFirstPage, type Kind, list, page, refreshable, row, single } from './kind.ts';
import { POLICY_KINDS } from './policy-kinds.ts';
import { loadPolicySums, NO_POLICY_SUMS, type PolicySums, refreshPolicySums } from './tallies/policies.ts';
import {
  loadUnreadNames,
  NO_UNREAD_NAMES,
  refreshUnreadNames,
  type UnreadNames,
} from './tallies/unread-names.ts';
import { loadVenueSums, NO_VENUE_SUMS, refreshVenueSums, type VenueSums } from './tallies/venues.ts';

const SLOW = { slow: true } as const;
const STEADY = { steady: true } as const;
const SECOND = 1_000;
const NO_BACKLOG: BacklogRow = { policies: 0, backlog: 0, unread: 0, oldest_time: null };

/** What a ranking is made of. */
const RANKED_FROM = {
  policies: 'any',
  pools: 'any',
  curve_configs: 'any',
  policy_totals: 'any',
  token_accounts: 'any',
  events: 'any',
  mints: 'any',
  metadata_accounts: 'any',
} as const;

/** All kinds that memory holds. */
export const KINDS = {
  ...POLICY_KINDS,
  ...HISTORICAL_KINDS,
  pair: row<PairRow>({ catalogue: 'any' }, pairsOf),
  prices: list<PriceRow>({ prices: 'key' }, pricesOf, STEADY),
  activity: page<readonly EventRow[]>(
    { events: 'key' },
    [],
    (store, [mint = '', isMany, limit, offset]) =>
      activityPage(store, mint, Number(limit), Number(offset), isMany === 'true'),
    { isRefreshedUnasked: isFirstPage },
  ),

  config: single<ProtocolConfigRow | null>({ protocol_config: 'any' }, null, protocolConfig),
  origins: single<readonly OriginRow[]>({ origins: 'any' }, [], origins),
  models: single<readonly ModelRow[]>({ models: 'any' }, [], models),
  hasCatalogue: single({ catalogue: 'any' }, false, hasCatalogue),
  currencies: single<CurrenciesRow | null>({ currencies: 'any' }, null, currencies),
  stream: single<StreamStateRow | null>({ stream_state: 'any' }, null, streamState),
  listed: single<ListedState>({ stream_state: 'any' }, NOTHING_LISTED, listedState),
  /** Only asked for where no list of the program's accounts that is here is known to be whole. */
  unreadNames: refreshable<UnreadNames>(
    { named_accounts: 'any', policies: 'any', venue_accounts: 'any', events: 'any' },
    NO_UNREAD_NAMES,
    loadUnreadNames,
    refreshUnreadNames,
    { sums: true },
  ),
  venueStatuses: single<readonly VenueStatusRow[]>({ venue_status: 'any' }, [], venueStatuses),
  programStatuses: single<readonly ProgramStatusRow[]>({ program_status: 'any' }, [], programStatuses),
  /** Keyed by the limit. */
  cataloguePairs: page<readonly CataloguePairRow[]>(
    { catalogue: 'any', prices: 'any' },
    [],
    (store, [limit]) => cataloguePairs(store, Number(limit)),
  ),
  /** By the search text and the limit, each pair with its number of policies. */
  quotePairs: page<readonly QuotePairRow[]>(
    { catalogue: 'any', policies: 'any', prices: 'any' },
    [],
    (store, [search = '', limit]) => quotePairs(store, search, Number(limit)),
  ),
  /** By the selection: a page in the order that ClickHouse gives. */
  ranked: page<RankedPage>(
    RANKED_FROM,
    { total: 0, places: [] },
    (store, [text = '']) => rankedPage(store, readSelection(text)),
    { sums: true },
  ),

  /** This and `venueSums` are null where there are too many rows: the kinds below ask ClickHouse for the sums then. */
  policySums: refreshable<PolicySums | null>(
    { policies: 'any', token_accounts: 'any' },
    NO_POLICY_SUMS,
    loadPolicySums,
    refreshPolicySums,
  ),
  venueSums: refreshable<VenueSums | null>(
    { venue_accounts: 'any' },
    NO_VENUE_SUMS,
    loadVenueSums,
    refreshVenueSums,
  ),
  quotesInUse: single<readonly string[]>({ policies: 'any' }, [], quotesInUse, SLOW),
  quoteTotals: single<readonly QuoteTotalsRow[]>({ policies: 'any' }, [], quoteTotals, SLOW),
  bridge: single<readonly BridgeRow[]>({ venue_accounts: 'any' }, [], bridgeFlow, SLOW),
  days: single<readonly QuoteDayRow[]>({ events: 'any', policy_totals: 'any' }, [], daySeries, {
    slow: true,
    sums: true,
  }),
  backlog: single<BacklogRow>({ policies: 'any', token_accounts: 'any' }, NO_BACKLOG, feeBacklog, SLOW),
  attestations: single<readonly { asset_class: number; remote_asof: string }[]>(
    { venue_accounts: 'any' },
    [],
    newestAttestations,
    SLOW,
  ),
  lastActions: single<{ keeper: string | null; attestor: string | null }>(
    { events: 'any' },
    { keeper: null, attestor: null },
    lastActions,
    SLOW,
  ),
  keeperOfDay: dayWindow<readonly KindCountRow[]>(
    { events: 'any' },
    [],
    async (store, _, until) => new Map([['', await keeperOfDay(store, until)]]),
    SLOW,
  ),
  /** Kept for a second only: nobody is notified of letters that a better decoder has read. */
  deadLetters: single({ dead_letters: 'any' }, '0', deadLetterCount, { slow: true, keptMs: SECOND }),
} as const satisfies Record<string, Kind<unknown>>;

export type KindName = keyof typeof KINDS;
export type ValueOf<Name extends KindName> = (typeof KINDS)[Name] extends Kind<infer Value> ? Value : never;
