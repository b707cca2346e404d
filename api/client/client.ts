import type {
  ChallengeRequest,
  CloseRequest,
  OpenRequest,
  PostRequest,
  SessionRequest,
} from '../../schemas/requests.ts';
import type {
  Challenge,
  Exposure,
  ExposuresResponse,
  ReleaseResponse,
  Session,
  StatusFilter,
} from '../../schemas/responses/agent.ts';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import type { ActivityResponse } from '../../schemas/responses/coin/activity.ts';
import type { CoinResponse } from '../../schemas/responses/coin/coin.ts';
import type { FeesResponse } from '../../schemas/responses/coin/fees.ts';
import type { HoldersResponse } from '../../schemas/responses/coin/holders.ts';
import type { LoopResponse } from '../../schemas/responses/coin/loop.ts';
import type { PositionsResponse } from '../../schemas/responses/coin/positions.ts';
import type { AgentPost, PostsResponse } from '../../schemas/responses/coin/posts.ts';
import type { CurrenciesResponse } from '../../schemas/responses/currencies.ts';
import type { HealthResponse } from '../../schemas/responses/health.ts';
import type { CoinHistoryResponse, ProtocolHistoryResponse, Step } from '../../schemas/responses/history.ts';
import type { Order, RankingFilters, RankingsResponse, Sort } from '../../schemas/responses/rankings.ts';
import type { ModelsResponse, OriginsResponse, QuotesResponse } from '../../schemas/responses/registries.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import type { ExposuresPage } from './exposures.ts';
import { createSender, type Exchange, type HttpOptions } from './http.ts';
import { nextPage, type Page } from './page.ts';

/** Times are ISO 8601 or unix seconds. */
export interface HistoryOptions {
  from?: string | number;
  to?: string | number;
  step?: Step;
}

export type RankingsOptions = Page & { sort?: Sort; order?: Order } & {
  [Filter in keyof RankingFilters]?: Exclude<RankingFilters[Filter], null>;
};

export type Client = ReturnType<typeof createClient>;

/** One function for each route of the service. All throw ApiError or NoAnswerError; only reads are retried. */
export function createClient(options: HttpOptions) {
  const exchanged = createSender(options);
  const send = async <Answer>(exchange: Exchange) => (await exchanged<Answer>(exchange)).answer;
  const get = <Answer>(path: string, query: Exchange['query'] = {}) =>
    send<Answer>({ method: 'GET', path, query });
  const coin = <Answer>(mint: string, path: string, query: Page | HistoryOptions = {}) =>
    get<Answer>(`/coins/${encodeURIComponent(mint)}${path}`, { ...query });
  const write = <Answer>(path: string, body: unknown, token?: string) =>
    send<Answer>({
      method: 'POST',
      path: `/api/agent/${path}`,
      body,
      ...(token === undefined ? {} : { token }),
    });
  return {
    health: () => get<HealthResponse>('/health'),
    status: () => get<StatusResponse>('/status'),
    origins: () => get<OriginsResponse>('/origins'),
    models: () => get<ModelsResponse>('/models'),
    quotes: (search?: string) => get<QuotesResponse>('/quotes', { search }),
    coin: (mint: string) => coin<CoinResponse>(mint, ''),
    positions: (mint: string) => coin<PositionsResponse>(mint, '/positions'),
    fees: (mint: string) => coin<FeesResponse>(mint, '/fees'),
    loop: (mint: string) => coin<LoopResponse>(mint, '/loop'),
    activity: (mint: string, page?: Page) => coin<ActivityResponse>(mint, '/activity', page),
    history: (mint: string, options?: HistoryOptions) => coin<CoinHistoryResponse>(mint, '/history', options),
    holders: (mint: string) => coin<HoldersResponse>(mint, '/holders'),
    posts: (mint: string, page?: Page) => coin<PostsResponse>(mint, '/posts', page),
    rankings: (options: RankingsOptions = {}) => get<RankingsResponse>('/rankings', { ...options }),
    analytics: () => get<AnalyticsResponse>('/analytics'),
    analyticsHistory: (options: HistoryOptions = {}) =>
      get<ProtocolHistoryResponse>('/analytics/history', { ...options }),
    currencies: (optionsVenue: string) =>
      get<CurrenciesResponse>(`/venues/${encodeURIComponent(optionsVenue)}/currencies`),
    openapi: () => get<Record<string, unknown>>('/openapi.json'),
    challenge: (request: ChallengeRequest) => write<Challenge>('challenge', request),
    session: (request: SessionRequest) => write<Session>('session', request),
    post: (token: string, request: PostRequest) => write<AgentPost>('posts', request, token),
    openExposure: (token: string, request: OpenRequest) => write<Exposure>('options/open', request, token),
    closeExposure: (token: string, request: CloseRequest) =>
      write<ReleaseResponse>('options/close', request, token),
    exposures: async (
      token: string,
      status: StatusFilter = 'held',
      page: Page = {},
    ): Promise<ExposuresPage> => {
      const { answer, link } = await exchanged<ExposuresResponse>({
        method: 'GET',
        path: '/api/agent/options/positions',
        query: { status, ...page },
        token,
      });
      return { ...answer, next: nextPage(link) };
    },
  };
}
