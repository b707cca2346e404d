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
  /** Takes no more connections, lets running answers finish, also those whose client is gone, then ends. */
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How often overdue heads and bodies of requests are looked for. */
const CHECK_EVERY_MS = 2_000;
/**
 * Connections that may wait while the process collects garbage, or starts: a client whose connection finds no place
 * tries again after a second. Node's own 511 are a fifth of a second of 2,500 a second; the system may allow fewer.
 */
const BACKLOG = 4_096;
/** Twice the number of streams that may be open. */
const MOST_CONNECTIONS = 10_000;
/** Connections of one address, where no proxy stands before us, which would count as one client. */
const MOST_OF_PEER = 2_500;
/**
 * Longer than a load balancer keeps an idle connection: the side that sends the requests must be the one that ends it.
 */
const KEEP_ALIVE_MS = 75_000;
const IDLE_MS = 120_000;
const CLOSE_LIMIT_MS = 5_000;
/** For answers that are still being made when no connection is left: what is closed next is what they work with. */
const WORK_LIMIT_MS = 3_000;

/** Event of the application, emitted before its connections are waited for: streams have no end of their own. */
export const CLOSING = 'closing';

export interface BindOptions {
  /** How long the head of a request may take to come. */
  headersTimeoutMs?: number;
  /** As TRUST_PROXY says; above 0, those that connect are proxies and none of the clients. */
  trustProxy?: number;
  mostOfPeer?: number;
}

/** A bound address; requests wait until there is an application. */
export interface Bound extends Listening {
  serve(app: Koa): void;
}

/** Two turns of the event loop: the first may belong to the one under way, which may have read its sockets before. */
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
      // Refused by `namingHost`, in the form that all else is refused in.
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
  // Ends a connection on which nothing moves, also where its client reads nothing.
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
      // Otherwise a client that asks again and again on a connection would keep it open up to the limit.
      for (const response of answering.all()) response.shouldKeepAlive = false;
      // A connection counts as idle as long as the request that has come on it is not read.
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
