import type { Store } from '../../../clickhouse/client.ts';
import { AFTER_ALL_KEYS, type InOrder } from '../../../clickhouse/in-order.ts';
import { activityPage } from '../../../clickhouse/queries/activity/activity.ts';
import { agentChangedBehind } from '../../../clickhouse/queries/activity/agent-changes.ts';
import * as claims from '../../../clickhouse/queries/activity/claims.ts';
import * as derived from '../../../clickhouse/queries/activity/derived.ts';
import * as streamEvents from '../../../clickhouse/queries/activity/stream-events.ts';
import { bridgeFlow } from '../../../clickhouse/queries/analytics/bridge-flow.ts';
import { daySeries } from '../../../clickhouse/queries/analytics/day-series.ts';
import { policyTotals, policyTotalsInOrder } from '../../../clickhouse/queries/analytics/policy-totals.ts';
import * as tallied from '../../../clickhouse/queries/analytics/tallied.ts';
import * as totals from '../../../clickhouse/queries/analytics/totals.ts';
import { undatedEvents } from '../../../clickhouse/queries/analytics/undated.ts';
import * as auditAccounts from '../../../clickhouse/queries/audit/accounts.ts';
import * as counters from '../../../clickhouse/queries/audit/counters.ts';
import * as days from '../../../clickhouse/queries/audit/days.ts';
import * as eventTables from '../../../clickhouse/queries/audit/event-tables.ts';
import * as firstSlot from '../../../clickhouse/queries/audit/first-slot.ts';
import * as hours from '../../../clickhouse/queries/audit/hours.ts';
import * as kinds from '../../../clickhouse/queries/audit/kinds.ts';
import * as quoteHours from '../../../clickhouse/queries/audit/quote-hours.ts';
import { mintRanges } from '../../../clickhouse/queries/audit/ranges.ts';
import * as auditTotals from '../../../clickhouse/queries/audit/totals.ts';
import * as unapplied from '../../../clickhouse/queries/audit/unapplied.ts';
import { uncarriedNow } from '../../../clickhouse/queries/history/carried.ts';
import { coinHistoryRows, HISTORY_KINDS } from '../../../clickhouse/queries/history/coin.ts';
import { quoteStepSums } from '../../../clickhouse/queries/history/event-sums.ts';
import { firstHour, keepSums } from '../../../clickhouse/queries/history/keep-sums.ts';
import * as protocol from '../../../clickhouse/queries/history/protocol.ts';
import { appliedMarker } from '../../../clickhouse/queries/progress/applied-marker.ts';
import { appliedOffsets, appliedPlaces } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import * as changes from '../../../clickhouse/queries/progress/changes.ts';
import * as letters from '../../../clickhouse/queries/progress/dead-letters.ts';
import { withTimes } from '../../../clickhouse/queries/progress/gap-times.ts';
import * as indexState from '../../../clickhouse/queries/progress/index-state.ts';
import { lastPlace, placeBefore } from '../../../clickhouse/queries/progress/indexed-chain.ts';
import { declareProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import {
  declarePartitions,
  partitionsMustBeAsDeclared,
} from '../../../clickhouse/queries/progress/log-partitions.ts';
import * as stream from '../../../clickhouse/queries/progress/stream-store.ts';
import * as swept from '../../../clickhouse/queries/progress/swept-profits.ts';
import { undatedStates, waitingHours } from '../../../clickhouse/queries/progress/undated-states.ts';
import * as unread from '../../../clickhouse/queries/progress/unread-accounts.ts';
import * as verification from '../../../clickhouse/queries/progress/verification.ts';
import * as dayWindows from '../../../clickhouse/queries/ranking/day-windows.ts';
import * as ranked from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import {
  policyCount,
  type RankingSelection,
  rankedPage,
} from '../../../clickhouse/queries/ranking/ranking.ts';
import * as catalogue from '../../../clickhouse/queries/states/catalogue.ts';
import { mintsAt, mintsInOrder } from '../../../clickhouse/queries/states/mints.ts';
import * as policies from '../../../clickhouse/queries/states/policy.ts';
import * as targets from '../../../clickhouse/queries/states/poll-targets.ts';
import { poolsAt, poolsInOrder } from '../../../clickhouse/queries/states/pools.ts';
import { pricesOf } from '../../../clickhouse/queries/states/prices.ts';
import { models, origins } from '../../../clickhouse/queries/states/registries.ts';
import * as tokens from '../../../clickhouse/queries/states/token-accounts.ts';
import { venueAccountsInOrder, venueAccountsOf } from '../../../clickhouse/queries/states/venue-accounts.ts';
import { keeperOfDay, lastActions } from '../../../clickhouse/queries/status/events-between.ts';
import { protocolConfig } from '../../../clickhouse/queries/status/protocol-config.ts';
import { deadLetterCount, feeBacklog } from '../../../clickhouse/queries/status/status-counts.ts';
import { listedState, streamState } from '../../../clickhouse/queries/status/stream-state.ts';
import * as venues from '../../../clickhouse/queries/status/venue-state.ts';
import { accountedFor } from '../../../clickhouse/queries/transactions/accounted-for.ts';
import * as disputed from '../../../clickhouse/queries/transactions/disputed.ts';
import * as eventTimes from '../../../clickhouse/queries/transactions/event-times.ts';
import { incompleteAmong } from '../../../clickhouse/queries/transactions/unresolved.ts';
import { ask, type Question } from '../../../clickhouse/question.ts';
import { schemaMustBeKnown } from '../../../clickhouse/schema/migrate.ts';
import { beginReplay, isGivenUp, unfinishedReplay } from '../../../clickhouse/serving/replays.ts';
import { readServing } from '../../../clickhouse/serving/serving.ts';
import { HOUR_COLUMNS, type HourTable } from '../../../clickhouse/tables.ts';
import { skipCutOffBatch } from '../../../ingest/materialise/progress.ts';
import { readKnownGaps } from '../../../ingest/operate/replay/known-gaps.ts';
import { SORTS } from '../../../schemas/responses/rankings.ts';
import { key } from '../../ingest/materialise/support/records.ts';

type Ask = (store: Store) => unknown;

const IN_SLOT = { slot: '1', signature: 's' };
const ONE = [IN_SLOT];
const KEYS = ['a', 'b'];
const RANGE = { after: '', last: AFTER_ALL_KEYS };
const MINTS = { first: '', last: AFTER_ALL_KEYS };
const FROM_TO = { from: 0, to: 100_000 };
const ACCOUNTS = { policy: 'p', bankroll: 'b', pool: 'o' };
const NOW = 1_780_000_000;
const SELECTION: RankingSelection = {
  ...{ sort: 'fees', order: 'desc', limit: 10, offset: 0, launchpad: 'l', sumsKnown: true, undated: [] },
  ...{ mode: null, origin: null, model: null, quote: null, locked: null, paused: null, search: null },
  ...{ rates: [{ mint: 'm', multiplier: 1n, divisor: 1n }], window: { after: 0, until: NOW } },
};
/** Ends of steps, in hours since 1970. */
const ENDS = [494_000, 494_001, 494_002] as const;
const OPEN_GAP = {
  ...{ from_slot: '1', to_slot: '2', to_time: null, partitions: 1, open_partitions: 1 },
  ...{ unread: null, first_slot: null, begin: null, behind: 0 },
};
const EVENT = { mint: 'm', signature: 's', kind: 'AgentSet', summary: '{"newAgent":"a"}' };
const HELD = { exists: 1, slot: '1', version: '1', block_time: null };

/** Rows by table, with which queries that depend on the answer of another are run too. */
export const ROWS: Record<string, object[]> = {
  account_hours: [{ address: 'a', hour: ENDS[0] - 1, held_in: 'policies' }],
  applied: [{ topic: 'transactions', slot: '9', block_time: 1 }],
  carried_accounts: [{ address: 'a', slot: '1', carried: 0 }],
  derived_events: [{ slot: '5', signature: 's', mint: 'm', taken_back: 1 }],
  events: [{ ...EVENT, slot: '5' }],
  // An event that `events` lacks.
  events_by_slot: [{ slot: '6', signature: 's', position: 1, mint: 'm', kind: 'Routed' }],
  gaps: [{ from_slot: '1', to_slot: '2', closed: 0 }],
  hour_slots: ENDS.map((hour, at) => ({ hour, slot: String(10 + at) })),
  incomplete_transactions: [{ slot: '7', signature: 's', missing: ['everything'], policies: ['p'] }],
  metadata_accounts: [{ ...HELD, address: key('metadata'), mint: 'm' }],
  policies: [{ ...HELD, address: 'p', mint: 'm', bankroll: 'b' }],
  undated_events: [{ slot: '6', signature: 's', position: 1 }],
  venue_accounts: [{ ...HELD, address: key('venue account'), policy: 'p' }],
  unseen_changes: [{ address: 'a', after_slot: '1', to_slot: '3' }],
};

const inOrder =
  (read: InOrder): Ask =>
  (store) =>
    read(store, { behind: '', last: AFTER_ALL_KEYS, most: 100 }, { until: NOW });
const question =
  (of: Question<unknown>): Ask =>
  (store) =>
    ask(store, of);
const ranking =
  (change: Partial<RankingSelection>): Ask =>
  (store) =>
    rankedPage(store, { ...SELECTION, ...change });
const ofDayInOrder =
  (read: typeof dayWindows.eventsOfDayInOrder): Ask =>
  (store) =>
    read(store, { behind: '', last: AFTER_ALL_KEYS, most: 100 }, NOW);
const all = async (rows: AsyncIterable<unknown>) => {
  for await (const _ of rows);
};

/** The queries of the product, by the name of the function that makes each. */
export const QUESTIONS: Record<string, Ask> = {
  activityPage: (store) => activityPage(store, 'm', 10, 0, true),
  agentChangedBehind: (store) => agentChangedBehind(store, 'm', 1n),
  recentClaims: (store) => claims.recentClaims(store, KEYS),
  recentClaimsOfBusy: (store) => claims.recentClaimsOfBusy(store, KEYS),
  recentClaimsInOrder: inOrder(claims.recentClaimsInOrder),
  derivedBetween: (store) => derived.derivedBetween(store, 1n, 9n),
  derivedSlots: derived.derivedSlots,
  wholeAmong: (store) => derived.wholeAmong(store, ONE),
  wholeByEvents: (store) => derived.wholeByEvents(store, ONE),
  eventIdentities: (store) => streamEvents.eventIdentities(store, 0n, 100n, 10),
  hasManyEvents: (store) => streamEvents.hasManyEvents(store, 0n, 100n, 10),
  eventsOfSlots: (store) => streamEvents.eventsOfSlots(store, KEYS, 0n, 100n, 10),

  bridgeFlow,
  daySeries,
  policyTotals: (store) => policyTotals(store, KEYS),
  policyTotalsInOrder: inOrder(policyTotalsInOrder),
  talliedPolicies: question(tallied.talliedPolicies(KEYS)),
  'talliedPolicies of a range': question(tallied.talliedPolicies(RANGE)),
  talliedEscrows: question(tallied.talliedEscrows(KEYS)),
  'talliedEscrows of a range': question(tallied.talliedEscrows(RANGE)),
  talliedVenueAccounts: (store) => tallied.talliedVenueAccounts(store, KEYS),
  'talliedVenueAccounts of all': (store) => tallied.talliedVenueAccounts(store, null),
  venueAccountCount: tallied.venueAccountCount,
  quoteTotals: totals.quoteTotals,
  quotesInUse: totals.quotesInUse,
  undatedEvents,

  statesAfter: (store) => auditAccounts.statesAfter(store, 'policies', '', 10),
  statesAt: (store) => auditAccounts.statesAt(store, 'policies', KEYS),
  storedAmong: (store) => auditAccounts.storedAmong(store, ['policies', 'mints'], KEYS),
  mintOfPolicy: (store) => auditAccounts.mintOfPolicy(store, KEYS),
  countedStates: (store) => counters.countedStates(store, '', 10),
  statesOf: (store) => counters.statesOf(store, KEYS),
  countersFromEvents: (store) => counters.countersFromEvents(store, [{ mint: 'm', slot: '9' }]),
  allDays: days.allDays,
  storedDays: (store) => days.storedDays(store, FROM_TO),
  recomputedDays: (store) => days.recomputedDays(store, FROM_TO),
  differingMints: (store) => eventTables.differingMints(store, MINTS),
  firstDifferingEvent: (store) => eventTables.firstDifferingEvent(store, 'm'),
  'firstSlotAbove of a mint': (store) =>
    firstSlot.firstSlotAbove(store, { of: 'mint', mint: 'm', partition: 0, upTo: null }, ['Routed.a'], '1'),
  'firstSlotAbove of a day': (store) =>
    firstSlot.firstSlotAbove(
      store,
      { of: 'day', ...FROM_TO, quoteMint: 'q', partition: 0 },
      ['Routed.a'],
      '1',
    ),
  'firstSlotAbove of a run': (store) =>
    firstSlot.firstSlotAbove(
      store,
      { of: 'run', run: '1', kind: 'Routed', actor: 'a', partition: 0 },
      ['Routed.a'],
      '1',
    ),
  eventsPerSignature: (store) => firstSlot.eventsPerSignature(store, 'm', ['s']),
  policyOfMint: (store) => firstSlot.policyOfMint(store, 'm'),
  ...Object.fromEntries(
    (Object.keys(HOUR_COLUMNS) as HourTable[]).map((table) => [
      `lastHours of ${table}`,
      (store: Store) => hours.lastHours(store, table, KEYS),
    ]),
  ),
  'lastHours of all': (store) => hours.lastHours(store, 'policies', []),
  countedHours: (store) => hours.countedHours(store, KEYS),
  allRuns: kinds.allRuns,
  storedKinds: (store) => kinds.storedKinds(store, FROM_TO),
  recountedKinds: (store) => kinds.recountedKinds(store, FROM_TO),
  unappliedOfRuns: (store) => kinds.unappliedOfRuns(store, FROM_TO),
  keptHours: quoteHours.keptHours,
  differingSums: (store) => quoteHours.differingSums(store, ENDS),
  mintRanges: (store) => all(mintRanges(store, 1)),
  storedTotals: (store) => auditTotals.storedTotals(store, MINTS),
  recomputedTotals: (store) => auditTotals.recomputedTotals(store, MINTS),
  unappliedOfMint: (store) => unapplied.unappliedOfMint(store, 'm'),
  unappliedOfDays: (store) => unapplied.unappliedOfDays(store, FROM_TO),
  unappliedOfTransaction: (store) => unapplied.unappliedOfTransaction(store, { mint: 'm', ...IN_SLOT }),

  uncarriedNow,
  coinHistoryRows: (store) =>
    coinHistoryRows(store, { ...ACCOUNTS, mint: 'm', quoteMint: 'q', from: ENDS[0], to: ENDS[2] }),
  quoteStepSums: (store) => quoteStepSums(store, HISTORY_KINDS, { first: ENDS[0], last: ENDS[2], each: 1 }),
  firstHour,
  protocolHistoryRows: (store) => protocol.protocolHistoryRows(store, ENDS, ENDS[2]),
  begunPolicies: protocol.begunPolicies,
  protocolNow: protocol.protocolNow,
  keepSums: (store) => keepSums(store, ENDS, async () => {}),

  appliedMarker,
  appliedOffsets,
  appliedPlaces,
  changePlace: changes.changePlace,
  changesAfter: (store) => changes.changesAfter(store, new Map([['w', 0n]])),
  openLetters: letters.openLetters,
  waitsForTransaction: letters.waitsForTransaction,
  lettersOf: (store) => letters.lettersOf(store, ONE),
  resolvedReplies: letters.resolvedReplies,
  outdatedLetters: letters.outdatedLetters,
  withTimes: (store) => withTimes(store, [OPEN_GAP]),
  appliedState: indexState.appliedState,
  gapStates: indexState.gapStates,
  incompleteState: indexState.incompleteState,
  missingMark: indexState.missingMark,
  lastPlace,
  placeBefore: (store) => placeBefore(store, 1n),
  declareProgram: (store) => declareProgram(store, 'p', null),
  declarePartitions: (store) => declarePartitions(store, { accounts: 1, transactions: 1 }),
  partitionsMustBeAsDeclared: (store) => partitionsMustBeAsDeclared(store, { accounts: 1, transactions: 1 }),
  startOffsets: stream.startOffsets,
  appliedMarkers: stream.appliedMarkers,
  appliedPosition: (store) => stream.appliedPosition(store, 1),
  lowestMarker: (store) => stream.lowestMarker(store, 1),
  followedAccounts: stream.followedAccounts,
  openGaps: stream.openGaps,
  closedUpTo: (store) => stream.closedUpTo(store, [1n]),
  historyBegin: stream.historyBegin,
  hasTransactionBefore: (store) => stream.hasTransactionBefore(store, 9n),
  unresolvedTransactions: stream.unresolvedTransactions,
  unsettledSweeps: (store) => swept.unsettledSweeps(store, 9n, { slot: 1n, signature: 's' }, 10),
  marksAround: (store) => swept.marksAround(store, 'p', 5n),
  sweepsBetween: (store) => swept.sweepsBetween(store, 'p', 1n, 9n),
  missingBetween: (store) => swept.missingBetween(store, 'p', 1n, 9n),
  sweptProfits: (store) => swept.sweptProfits(store, ['s']),
  undatedStates: (store) => undatedStates(store, '', 10),
  waitingHours: (store) => waitingHours(store, { address: 'a', slot: 1n }, 10),
  'waitingHours from the first': (store) => waitingHours(store, null, 10),
  unreadNames: (store) => unread.unreadNames(store, KEYS),
  unreadAccounts: unread.unreadAccounts,
  standingNames: (store) => unread.standingNames(store, [{ policy: 'p', token_account: '', mint: 'm' }]),
  verifiedSlot: verification.verifiedSlot,
  nextSlot: (store) => verification.nextSlot(store, 1n),
  signatureBehind: (store) => verification.signatureBehind(store, 1n),
  storedBetween: (store) => verification.storedBetween(store, 1n, 9n),
  eventsOf: (store) => verification.eventsOf(store, ONE),
  policiesOf: (store) => verification.policiesOf(store, ONE),

  eventsOfDayInOrder: ofDayInOrder(dayWindows.eventsOfDayInOrder),
  claimsOfDayInOrder: ofDayInOrder(dayWindows.claimsOfDayInOrder),
  eventsOfDay: (store) => dayWindows.eventsOfDay(store, KEYS, NOW),
  'eventsOfDay of a range': (store) => dayWindows.eventsOfDay(store, RANGE, NOW),
  claimsOfDay: (store) => dayWindows.claimsOfDay(store, KEYS, NOW),
  rankedPolicies: question(ranked.rankedPolicies(KEYS)),
  policyRangeEnds: question(ranked.policyRangeEnds(1)),
  rankedPools: question(ranked.rankedPools('l', KEYS, KEYS)),
  'rankedPools of a range': question(ranked.rankedPools('l', KEYS, RANGE)),
  rankedAccounts: question(ranked.rankedAccounts(KEYS)),
  'rankedAccounts of a range': question(ranked.rankedAccounts(RANGE)),
  rankedSums: question(ranked.rankedSums(KEYS)),
  'rankedSums of a range': question(ranked.rankedSums(RANGE)),
  rankedTokens: question(ranked.rankedTokens(RANGE)),
  ...Object.fromEntries(SORTS.map((sort) => [`rankedPage by ${sort}`, ranking({ sort })])),
  'rankedPage behind its end': ranking({ sort: 'newest', search: 'a', mode: 'Active', offset: 100 }),
  policyCount,

  pairsOf: (store) => catalogue.pairsOf(store, KEYS),
  quotePairs: (store) => catalogue.quotePairs(store, 'a', 10),
  cataloguePairs: (store) => catalogue.cataloguePairs(store, 10),
  hasCatalogue: catalogue.hasCatalogue,
  mintsAt: (store) => mintsAt(store, KEYS),
  mintsInOrder: inOrder(mintsInOrder),
  policiesAt: (store) => policies.policiesAt(store, KEYS),
  policiesSince: (store) => policies.policiesSince(store, KEYS, '1'),
  policiesInOrder: inOrder(policies.policiesInOrder),
  policySlots: (store) => policies.policySlots(store, KEYS),
  mostSweptMint: policies.mostSweptMint,
  lastTransactions: (store) => policies.lastTransactions(store, KEYS),
  lastTransactionsSince: (store) => policies.lastTransactionsSince(store, KEYS, '1'),
  lastTransactionsInOrder: inOrder(policies.lastTransactionsInOrder),
  remoteAccounts: targets.remoteAccounts,
  quoteMints: targets.quoteMints,
  metadataUris: targets.metadataUris,
  poolsAt: (store) => poolsAt(store, KEYS),
  poolsInOrder: inOrder(poolsInOrder),
  pricesOf: (store) => pricesOf(store, KEYS),
  origins,
  models,
  tokenAccountsAt: (store) => tokens.tokenAccountsAt(store, KEYS),
  tokenAccountsSince: (store) => tokens.tokenAccountsSince(store, KEYS, '1'),
  tokenAccountsInOrder: inOrder(tokens.tokenAccountsInOrder),
  venueAccountsOf: (store) => venueAccountsOf(store, KEYS),
  venueAccountsInOrder: inOrder(venueAccountsInOrder),

  keeperOfDay: (store) => keeperOfDay(store, NOW),
  lastActions,
  protocolConfig,
  feeBacklog,
  deadLetterCount,
  listedState,
  streamState: (store) => streamState(store, NOW * 1_000),
  venueReadings: (store) => venues.venueReadings(store, KEYS),
  venueReadingsInOrder: inOrder(venues.venueReadingsInOrder),
  venueStatuses: venues.venueStatuses,
  programStatuses: venues.programStatuses,
  newestAttestations: venues.newestAttestations,
  currencies: venues.currencies,

  accountedFor: (store) => accountedFor(store, ONE),
  decidedSlots: disputed.decidedSlots,
  decidedBetween: (store) => disputed.decidedBetween(store, 1n, 9n),
  disputedSlots: (store) => disputed.disputedSlots(store, 10),
  eventsOfDecided: (store) => disputed.eventsOfDecided(store, ONE),
  policiesOfDecided: (store) => disputed.policiesOfDecided(store, ONE),
  lastUndatedSlot: eventTimes.lastUndatedSlot,
  undatedOf: (store) => eventTimes.undatedOf(store, ONE),
  toldPlaces: (store) => eventTimes.toldPlaces(store, ONE),
  standingFacts: (store) => eventTimes.standingFacts(store, ONE),
  incompleteAmong: (store) => incompleteAmong(store, ONE),

  unfinishedReplay,
  beginReplay: (store) => beginReplay(store, 'code'),
  isGivenUp: (store) => isGivenUp(store, 'd'),
  readServing,
  schemaMustBeKnown,
  readKnownGaps,
  skipCutOffBatch: (store) => skipCutOffBatch(store, 1),
};
