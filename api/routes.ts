import { type TSchema, Type } from 'typebox';
import { AnalyticsResponse } from '../schemas/responses/analytics.ts';
import { ActivityResponse } from '../schemas/responses/coin/activity.ts';
import { CoinResponse } from '../schemas/responses/coin/coin.ts';
import { FeesResponse } from '../schemas/responses/coin/fees.ts';
import { HoldersResponse } from '../schemas/responses/coin/holders.ts';
import { LoopResponse } from '../schemas/responses/coin/loop.ts';
import { PositionsResponse } from '../schemas/responses/coin/positions.ts';
import { PostsResponse } from '../schemas/responses/coin/posts.ts';
import { CurrenciesResponse } from '../schemas/responses/currencies.ts';
import { HealthResponse } from '../schemas/responses/health.ts';
import { CoinHistoryResponse, HistoryQuery, ProtocolHistoryResponse } from '../schemas/responses/history.ts';
import { BusyBody, ErrorBody } from '../schemas/responses/parts.ts';
import { RankingsQuery, RankingsResponse } from '../schemas/responses/rankings.ts';
import {
  ModelsResponse,
  OriginsResponse,
  QuotesQuery,
  QuotesResponse,
} from '../schemas/responses/registries.ts';
import { StatusResponse } from '../schemas/responses/status.ts';
import { analytics } from './analytics/analytics.ts';
import { activity } from './coin/activity.ts';
import { coin } from './coin/coin.ts';
import { fees } from './coin/fees.ts';
import { type Coin, coinAnswer } from './coin/find.ts';
import { holders } from './coin/holders.ts';
import { loop } from './coin/loop.ts';
import { positions } from './coin/positions.ts';
import { postsHandler } from './coin/posts.ts';
import { currencyList } from './currencies/currencies.ts';
import type { ReadDeps } from './deps/read-deps.ts';
import { asksForPages } from './explorer/html.ts';
import { coinHistoryAnswer, protocolHistoryAnswer } from './history/answers.ts';
import type { OwnRoute, Route, SharedContext, SharedRoute } from './http/route.ts';
import type { View } from './latest/view.ts';
import { rankings } from './rankings/rankings.ts';
import { modelList, originList, quoteList } from './registries/registries.ts';
import { health } from './status/health.ts';
import { status } from './status/status.ts';

const paging = (limit: string) =>
  Type.Object({
    limit: Type.Optional(Type.String({ description: limit })),
    offset: Type.Optional(
      Type.String({ description: '0 to 100000 (default 0); values outside are clamped.' }),
    ),
  });

/** Every public read route. */
export function readRoutes(deps: ReadDeps): Route[] {
  const { settings } = deps;
  const { serviceName, optionsVenueId } = settings;
  const list = (
    path: string,
    summary: string,
    response: TSchema,
    answer: (view: View, context: SharedContext) => unknown,
  ): SharedRoute => ({
    method: 'GET',
    path,
    summary,
    responses: { 200: response, 503: BusyBody },
    cached: true,
    answer: (context, view) => ({ status: 200, body: answer(view, context) }),
  });
  const alive = (path: string): OwnRoute => ({
    method: 'GET',
    path,
    summary: 'Whether the process is alive; no store is queried.',
    responses: { 200: HealthResponse },
    cached: false,
    handler: async () => ({ status: 200, body: health(serviceName) }),
  });
  /** The same for everybody; a browser goes on to the pages for people. */
  const first: OwnRoute = {
    ...alive('/'),
    handler: async ({ headers }) => ({
      status: 200,
      body: health(serviceName),
      headers: { Vary: 'Accept', ...(asksForPages(headers.accept) ? { Refresh: '0; url=/explorer/' } : {}) },
    }),
  };
  const ofCoin = (
    path: string,
    summary: string,
    response: TSchema,
    answer: (coin: Coin) => unknown,
  ): SharedRoute => ({
    method: 'GET',
    path: `/coins/:mint${path}`,
    summary,
    responses: { 200: response, 404: ErrorBody, 503: BusyBody },
    cached: true,
    answer: coinAnswer(deps, answer),
  });
  return [
    first,
    alive('/health'),
    list('/status', 'How far the index has come, and how fresh each source is.', StatusResponse, (view) =>
      status(view, settings),
    ),
    list('/origins', 'All origins, ordered by id.', OriginsResponse, originList),
    list('/models', 'All models, ordered by id.', ModelsResponse, modelList),
    {
      ...list(
        '/quotes',
        'The quote assets that a token can be launched against.',
        QuotesResponse,
        (view, { query }) => quoteList(view, settings, query.get('search') ?? ''),
      ),
      query: QuotesQuery,
    },
    ofCoin('', 'The policy of a launched token, with its figures.', CoinResponse, coin),
    ofCoin('/positions', 'What a policy holds at venues the chain cannot see.', PositionsResponse, positions),
    ofCoin(
      '/fees',
      'Creator fees claimed, in the quote asset and in the launched token.',
      FeesResponse,
      fees,
    ),
    ofCoin('/loop', 'Each step of the loop that the policy’s money goes through.', LoopResponse, loop),
    {
      ...ofCoin('/activity', 'Events of a policy, newest first.', ActivityResponse, activity),
      query: paging('1 to 200 (default 50); values outside are clamped.'),
    },
    {
      method: 'GET',
      path: '/coins/:mint/history',
      summary: 'Figures of a policy at the end of each hour or day.',
      query: HistoryQuery,
      responses: { 200: CoinHistoryResponse, 400: ErrorBody, 404: ErrorBody, 503: BusyBody },
      cached: true,
      long: true,
      answer: coinHistoryAnswer(deps),
    },
    ofCoin('/holders', 'What was burned and paid for the holders.', HoldersResponse, holders),
    {
      method: 'GET',
      path: '/coins/:mint/posts',
      summary: 'Posts of a policy’s agent, newest first.',
      responses: { 200: PostsResponse, 404: ErrorBody, 503: BusyBody },
      readsPostgres: true,
      handler: postsHandler(deps),
      query: paging('1 to 100 (default 20); values outside are clamped.'),
      // A new post does not change the index, which cached answers depend on.
      cached: false,
    },
    {
      method: 'GET',
      path: '/rankings',
      summary: 'Policies ordered by one sort and narrowed by any of the filters.',
      query: RankingsQuery,
      responses: { 200: RankingsResponse, 400: ErrorBody, 503: BusyBody },
      cached: true,
      answer: (context, view) => rankings(view, settings, context),
    },
    {
      method: 'GET',
      path: '/analytics',
      summary: 'Totals of the protocol, its configuration and a series of days.',
      responses: { 200: AnalyticsResponse, 503: BusyBody },
      cached: true,
      answer: (_, view) => analytics(view, settings),
    },
    {
      method: 'GET',
      path: '/analytics/history',
      summary: 'Sums over all policies by quote asset, at the end of each hour or day.',
      query: HistoryQuery,
      responses: { 200: ProtocolHistoryResponse, 400: ErrorBody, 503: BusyBody },
      cached: true,
      long: true,
      answer: protocolHistoryAnswer(deps),
    },
    list(
      `/venues/${optionsVenueId}/currencies`,
      'The currencies for which the options venue lists options.',
      CurrenciesResponse,
      (view) => currencyList(view, settings),
    ),
  ];
}

/** `GET /openapi.json`: made once, from the table of routes, which has this route too. */
export function openApiRoute(page: () => unknown): Route {
  let made: unknown;
  return {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description of the API.',
    responses: { 200: Type.Object({ openapi: Type.String(), paths: Type.Unknown() }), 503: BusyBody },
    cached: true,
    answer: () => {
      made ??= page();
      return { status: 200, body: made };
    },
  };
}
