import http from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Koa from 'koa';
import { createBag } from '../../runtime/bag.ts';
import { doneWithin } from '../../runtime/process/lifecycle.ts';
import { whyNotListening } from '../../runtime/process/listening.ts';
import { drainingBodies } from './drain-body.ts';
import { createInFlight } from './in-flight.ts';
import { limitPeers } from './peers.ts';
import { createOneAtATime } from './turns/one-at-a-time.ts';
import { answerUnparsed, namingHost } from './unparsed.ts';

export interface Listening {
  port: number;
  /** Takes no more connections, lets running answers finish, those too that nobody waits for any more, then ends. */
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** As often is looked for heads and bodies that do not come. */
const CHECK_EVERY_MS = 2_000;
/**
 * Connections that come while the process collects garbage, or starts: a client whose connection finds no place tries again after
 * a second. Node's own 511 are a fifth of a second of 2,500; the system may allow fewer.
 */
const BACKLOG = 4_096;
/** Twice as many as may be streams. */
const MOST_CONNECTIONS = 10_000;
/** Of one client, where no proxy stands before us that counts for itself. */
const MOST_OF_PEER = 2_500;
/** Longer than a load balancer keeps a connection: the one that sends must be the one that ends it. */
const KEEP_ALIVE_MS = 75_000;
const IDLE_MS = 120_000;
const CLOSE_LIMIT_MS = 5_000;
/** For what is still being made when no connection is left: whoever closes next closes what it works with. */
const WORK_LIMIT_MS = 3_000;

/** What an application is told before its connections are waited for: streams have no end of their own. */
export const CLOSING = 'closing';

export interface BindOptions {
  /** For the head of a request to come. */
  headersTimeoutMs?: number;
  /** As TRUST_PROXY says; with any, whoever connects is none of the clients. */
  trustProxy?: number;
  mostOfPeer?: number;
}

/** An address that is ours; requests wait until there is an application. */
export interface Bound extends Listening {
  serve(app: Koa): void;
}

/** The first of these is called in the turn that is under way, which may have read before it came. */
const whatHasComeIsRead = async (): Promise<void> => {
  await nextTurn();
  await nextTurn();
};

/** Serves the application; rejects where the address is taken. */
export async function listen(app: Koa, host: string, port: number): Promise<Listening> {
  const bound = await bind(host, port);
  bound.serve(app);
  return bound;
}

/** Takes the address, port 0 for any free one, before there is anything to serve; rejects where it is taken. */
export async function bind(host: string, port: number, options: BindOptions = {}): Promise<Bound> {
  const { headersTimeoutMs = HEADERS_TIMEOUT_MS, trustProxy = 0, mostOfPeer = MOST_OF_PEER } = options;
  const application = Promise.withResolvers<ReturnType<Koa['callback']>>();
  const inFlight = createInFlight();
  let served: Koa | undefined;
  const oneAtATime = createOneAtATime();
  const answering = createBag<http.ServerResponse>();
  let isClosing = false;
  const server = http.createServer(
    {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersTimeoutMs),
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Refused here, in the form that all else is refused in.
      requireHostHeader: false,
    },
    oneAtATime.listener(
      namingHost(
        drainingBodies((request, response) => {
          if (isClosing) response.shouldKeepAlive = false;
          response.once('close', answering.add(response));
          void application.promise.then((answer) => inFlight.note(answer(request, response)));
        }),
      ),
    ),
  );
  answerUnparsed(server, oneAtATime);
  server.maxConnections = MOST_CONNECTIONS;
  if (trustProxy === 0) limitPeers(server, mostOfPeer);
  // A connection on which nothing moves, a reader that reads nothing among them.
  server.setTimeout(IDLE_MS);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(whyNotListening('PORT', { host, port }, error)),
    );
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    serve: (app) => {
      served = app;
      application.resolve(app.callback());
    },
    close: async () => {
      isClosing = true;
      // Whoever asks again and again on a connection would keep it open for as long as it may be.
      for (const response of answering.all()) response.shouldKeepAlive = false;
      // A connection counts as idle as long as nobody has read the request that has come on it.
      await whatHasComeIsRead();
      served?.emit(CLOSING);
      await new Promise<void>((resolve) => {
        const limit = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
        server.close(() => {
          clearTimeout(limit);
          resolve();
        });
        server.closeIdleConnections();
      });
      await doneWithin(WORK_LIMIT_MS, inFlight.done());
    },
  };
}
