import { EVENTS } from '../../schemas/program/idl.ts';
import { BusyBody, ErrorBody } from '../../schemas/responses/parts.ts';
import {
  ActivityStreamQuery,
  EventStream,
  PostStreamQuery,
  RankingStreamQuery,
  StreamHeaders,
} from '../../schemas/responses/stream.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { NumberedPosts } from '../deps/posts.ts';
import type { ReadDeps } from '../deps/read-deps.ts';
import type { OwnRoute, Route, RouteContext, RouteReply } from '../http/route.ts';
import { readRankingParameters } from '../rankings/parameters.ts';
import { rankingPage } from '../rankings/rankings.ts';
import { createActivityFeed } from './activity.ts';
import { type ClientLimits, createClients } from './clients.ts';
import { createHub, type Subscription } from './hub.ts';
import { createPostFeed } from './posts.ts';
import { createRankingFeed } from './rankings.ts';

export interface StreamParts {
  deps: ReadDeps;
  posts: NumberedPosts | null;
  onError(error: unknown): void;
  limits?: Partial<ClientLimits>;
  clock?: () => number;
  postsWaitMs?: number | undefined;
}

const EVENT_STREAM = 'text/event-stream';
/** Kinds of events that a policy's activity is made of. */
const KINDS: readonly string[] = [...EVENTS.values()].filter((kind) => kind !== 'ProtocolPaused');
const FLAGS: readonly string[] = ['true', 'false'];
/** Rows of a ranking that is followed. */
const ROWS = 50;
const AGAIN_S = 10;

/** The streams, and what ends all of them. */
export function streamRoutes(parts: StreamParts): { routes: Route[]; close(): void } {
  const { deps, onError } = parts;
  const { latest, settings } = deps;
  const clients = createClients(parts.limits);
  const hub = createHub({
    clients,
    activity: createActivityFeed(latest, parts.clock),
    posts: parts.posts === null ? null : createPostFeed(parts.posts),
    postsWaitMs: parts.postsWaitMs,
    onError,
  });
  const ranked = createRankingFeed({
    clients,
    latest,
    onError,
    make: (view, question) => rankingPage(view, settings, new URLSearchParams(question)),
  });
  const line = (
    path: string,
    summary: string,
    query: NonNullable<Route['query']>,
    handler: OwnRoute['handler'],
  ): Route => ({
    method: 'GET',
    path: `/stream/${path}`,
    summary,
    query,
    headers: StreamHeaders,
    mediaType: EVENT_STREAM,
    responses: { 200: EventStream, 400: ErrorBody, 429: ErrorBody, 503: BusyBody },
    cached: false,
    handler,
  });
  const follow = async (context: RouteContext, wanted: Subscription) => {
    const wrong = refusalOf(wanted);
    if (wrong !== null) return { status: 400, body: { error: wrong } };
    return reply(await hub.subscribe(context.clientAddress, wanted, lastIdOf(context)));
  };
  return {
    close: () => clients.endAll('this process ends: connect again'),
    routes: [
      line('activity', 'Events of policies as they are indexed.', ActivityStreamQuery, async (context) => {
        const posts = given(context, 'posts') ?? 'false';
        if (!FLAGS.includes(posts))
          return { status: 400, body: { error: `unknown posts "${posts}". Valid: ${FLAGS.join(', ')}` } };
        return follow(context, {
          mint: given(context, 'mint'),
          kind: given(context, 'kind'),
          events: true,
          posts: posts === 'true',
        });
      }),
      line('posts', 'Posts of agents as they are stored.', PostStreamQuery, (context) =>
        follow(context, { mint: given(context, 'mint'), kind: null, events: false, posts: true }),
      ),
      line(
        'rankings',
        'The first 50 rows of a ranking, sent whenever they change.',
        RankingStreamQuery,
        async (context) => {
          const question = new URLSearchParams();
          for (const name of Object.keys(RankingStreamQuery.properties)) {
            const value = context.query.get(name);
            if (name !== 'after' && value !== null) question.set(name, value);
          }
          question.set('limit', String(ROWS));
          const asked = readRankingParameters(question);
          if ('error' in asked) return { status: 400, body: asked };
          return reply(ranked.subscribe(context.clientAddress, question.toString(), lastIdOf(context)));
        },
      ),
    ],
  };
}

/** The value of a parameter; null where it is empty, too. */
const given = ({ query }: RouteContext, name: string): string | null => query.get(name) || null;

function refusalOf({ mint, kind }: Subscription): string | null {
  if (mint !== null && decodeKey(mint) === null) return `unknown mint "${mint}". Valid: a base58 public key`;
  if (kind !== null && !KINDS.includes(kind)) return `unknown kind "${kind}". Valid: ${KINDS.join(', ')}`;
  return null;
}

/**
 * The id that a client stopped at: from the header that browsers send, or the parameter for clients that cannot set
 * one; an empty one counts as none.
 */
function lastIdOf({ headers, query }: RouteContext): string | null {
  return headers['last-event-id'] || query.get('after') || null;
}

function reply(opened: Awaited<ReturnType<ReturnType<typeof createHub>['subscribe']>>): RouteReply {
  const again = { 'Retry-After': String(AGAIN_S) };
  if (opened === 'busy')
    return {
      status: 503,
      body: { error: 'as many streams are open as may be', code: 'busy' },
      headers: again,
    };
  if (opened === 'too many of this address')
    return {
      status: 429,
      body: { error: 'as many streams are open for this address as may be' },
      headers: again,
    };
  return {
    status: 200,
    body: opened,
    headers: { 'Content-Type': `${EVENT_STREAM}; charset=utf-8`, 'X-Accel-Buffering': 'no' },
  };
}
