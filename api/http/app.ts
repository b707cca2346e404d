import { Readable } from 'node:stream';
import Koa, { type Context, type Next } from 'koa';
import type { Latest } from '../latest/latest.ts';
import type { View } from '../latest/view.ts';
import { ageField } from './answers/age.ts';
import { answerOf, matchesEtag, send, sendJson, sendStream } from './answers/answers.ts';
import { createLargeAnswers, type SendLarge } from './answers/large-answers.ts';
import { createPackedAnswers, type PackedAnswers } from './answers/packed-answers.ts';
import { stateOf } from './answers/request-state.ts';
import { createSendBacklog, mostWaiting, type SendBacklog } from './answers/send-backlog.ts';
import { createSharedAnswers, type SharedAnswers } from './answers/shared-answers.ts';
import { BODY_MAX, ClientGoneError, parseJson, readBody, TOO_LARGE, WHY_TOO_LARGE } from './body.ts';
import { clientAddress } from './client-address.ts';
import { createKeptTargets, type KeptTargets } from './kept-targets.ts';
import {
  COMMON_HEADERS,
  failuresAsJson,
  forAllOrigins,
  measured,
  methods,
  type Reporting,
  unknownPaths,
  unreadableTargets,
} from './middleware.ts';
import { queryProperties } from './openapi.ts';
import { type OwnRoute, type Route, type SharedContext, type SharedRoute, supportsEtag } from './route.ts';
import { routing } from './routing.ts';
import { createModestClients } from './turns/modest-clients.ts';
import type { InTurn } from './turns/read-for-all.ts';
import { createReadGate, type ReadGate } from './turns/read-gate.ts';
import { type ChargeThread, createTurns, type Turns } from './turns/turns.ts';

export interface HttpOptions extends Reporting {
  latest: Latest;
  /** Unix milliseconds. */
  clock(): number;
  trustProxy?: number;
  /** Reads under way side by side; further ones wait in turn. */
  readsAtOnce?: number;
  /** Most bytes of answers that wait for their clients to read them. */
  backlogBytes?: number;
}

const CACHE_BYTES = 80 * 1024 * 1024;
const PACKED_BYTES = 16 * 1024 * 1024;
/**
 * What reads lack in memory is loaded by shared queries where it can be; the rest has a few connections, so that reads
 * wait for their turn here.
 */
const READS_AT_ONCE = 12;
/** Reads of `long` routes side by side: one of them keeps ClickHouse busy for a second. */
const LONG_READS_AT_ONCE = 2;
/** Reads of Postgres side by side: as many as it has connections for readers. While it hangs each keeps its place. */
const POSTGRES_READS_AT_ONCE = 4;
/** Health checks wait for no turn: they are answered as long as the process lives. */
const WAITS_FOR_NOTHING: ReadonlySet<string> = new Set(['/', '/health']);

/** A table of routes as a Koa application. */
export function createHttp(routes: readonly Route[], options: HttpOptions): Koa {
  const shared = createSharedAnswers(options.latest, CACHE_BYTES);
  const packed = createPackedAnswers(PACKED_BYTES);
  const sendLarge = createLargeAnswers();
  const modest = createModestClients(() => performance.now());
  const gate = createReadGate({ atOnce: options.readsAtOnce ?? READS_AT_ONCE, others: modest });
  const longGate = createReadGate({ atOnce: LONG_READS_AT_ONCE, others: modest });
  const postgresGate = createReadGate({ atOnce: POSTGRES_READS_AT_ONCE, others: modest });
  const turns = createTurns({ modest });
  const backlog = createSendBacklog(options.backlogBytes ?? mostWaiting(process.constrainedMemory()));
  const addressOf = addressBy(options.trustProxy ?? 0);
  const keptTargets = createKeptTargets({
    ...{ latest: options.latest, commonHeaders: COMMON_HEADERS, reporting: options },
    ...{ shared, packed, turns, backlog, addressOf },
  });
  const reads = { shared, packed, gate, longGate, postgresGate, sendLarge, keptTargets };
  const app = new Koa();
  app.silent = true;
  app.use(keptTargets.answer);
  app.use(measured(options));
  app.use(forAllOrigins);
  app.use(methods);
  app.use(unreadableTargets);
  app.use(failuresAsJson(options));
  app.use(inTurn(turns, backlog, addressOf));
  app.use(routing(routes, (route) => (ctx) => answer(ctx, route, reads, options)));
  app.use(unknownPaths);
  return app;
}

const addressBy =
  (trustProxy: number) =>
  (ctx: Context): string => {
    const forwardedFor = trustProxy === 0 ? '' : ctx.get('x-forwarded-for');
    return clientAddress(ctx.req.socket.remoteAddress, forwardedFor, trustProxy);
  };

function inTurn(turns: Turns, backlog: SendBacklog, addressOf: (ctx: Context) => string) {
  return async (ctx: Context, next: Next) => {
    const address = addressOf(ctx);
    const state = stateOf(ctx);
    state.address = address;
    if (WAITS_FOR_NOTHING.has(ctx.path)) return next();
    const { refusal, chargeThread: inItsTurn } = state;
    if (refusal !== undefined) throw refusal;
    const answer = async (chargeThread: ChargeThread) => {
      state.chargeThread = chargeThread;
      // Nobody is there to be answered.
      if (ctx.req.socket.destroyed) throw new ClientGoneError('the client went away before its turn');
      await next();
      if (state.answer !== undefined) backlog.note(address, ctx.res, state.answer);
      return ctx.length ?? 0;
    };
    if (inItsTurn === undefined) await turns(address, answer);
    else await answer(inItsTurn);
  };
}

interface Reads {
  shared: SharedAnswers;
  packed: PackedAnswers;
  gate: ReadGate;
  longGate: ReadGate;
  postgresGate: ReadGate;
  sendLarge: SendLarge;
  keptTargets: KeptTargets;
}

function answer(ctx: Context, route: Route, reads: Reads, options: HttpOptions): Promise<void> {
  const state = stateOf(ctx);
  state.route = route.path;
  const asked: Asked = {
    address: state.address,
    params: ctx.params as Record<string, string>,
    query: new URLSearchParams(ctx.querystring),
  };
  return route.cached
    ? answerShared(ctx, route, asked, reads, options.latest)
    : answerOwn(ctx, route, asked, reads, options.clock);
}

interface Asked extends SharedContext {
  address: string;
}

async function answerShared(
  ctx: Context,
  route: SharedRoute,
  { address, params, query }: Asked,
  { shared, packed, gate, longGate, sendLarge, keptTargets }: Reads,
  latest: Latest,
): Promise<void> {
  const { database } = latest.currentStore();
  const key = cacheKey(ctx, query, route, database);
  const make = (view: View) => route.answer({ params, query }, view);
  const inGate = route.long === true ? longGate : gate;
  const inTurn: InTurn = (work) => inGate(address, work);
  const found = shared.ready(key, make) ?? (await shared.wait(key, make, inTurn, address));
  const packing = packed.formFor(found, ctx.get('Accept-Encoding'), matchesEtag(ctx, found));
  const form = packing instanceof Promise ? await packing : packing;
  ctx.set(ageField(latest));
  keptTargets.note(ctx.url, found, { database, key, path: route.path });
  send(ctx, form, true, sendLarge);
}

async function answerOwn(
  ctx: Context,
  route: OwnRoute,
  { address, params, query }: Asked,
  { postgresGate }: Reads,
  clock: () => number,
): Promise<void> {
  const bytes = route.method === 'POST' ? await readBody(ctx.req, BODY_MAX) : undefined;
  if (bytes === null && route.bearer !== true) {
    sendJson(ctx, 413, { error: WHY_TOO_LARGE, code: 'too_large' });
    return;
  }
  const handle = () =>
    route.handler({
      ...{ params, query },
      body: bytes === null ? TOO_LARGE : bytes && parseJson(bytes),
      headers: ctx.headers as Record<string, string | undefined>,
      clientAddress: address,
      now: clock(),
    });
  const reply = await (route.readsPostgres === true ? postgresGate(address, handle) : handle());
  if (reply.body instanceof Readable) {
    sendStream(ctx, reply, reply.body);
    return;
  }
  const startedAt = performance.now();
  send(ctx, answerOf(reply), route.mediaType !== undefined || supportsEtag(route));
  // The answer is printed after the waits of its handler, which the client's turn has not measured.
  stateOf(ctx).chargeThread?.(performance.now() - startedAt);
}

/** One key for all ways of asking for the same: only the parameters that the route knows, in the order of its table. */
function cacheKey(ctx: Context, query: URLSearchParams, route: Route, database: string): string {
  const known = query.size === 0 ? [] : Object.keys(queryProperties(route));
  const asked = known.map((name) => [name, query.get(name)]).filter(([, value]) => value !== null);
  // Neither the database nor the path has a space in it.
  const place = `${database} ${ctx.path}`;
  return asked.length === 0 ? place : `${place} ${JSON.stringify(asked)}`;
}
