import type Koa from 'koa';
import type { NumberedPosts, ReadPosts } from './deps/posts.ts';
import type { ReadDeps } from './deps/read-deps.ts';
import type { ReadSettings } from './deps/settings.ts';
import { decimalsRoute } from './explorer/decimals.ts';
import { explorerRoutes } from './explorer/routes.ts';
import { createHttp, type HttpOptions } from './http/app.ts';
import { CLOSING } from './http/listen.ts';
import { openApi } from './http/openapi.ts';
import type { Route } from './http/route.ts';
import { openApiRoute, readRoutes } from './routes.ts';
import type { ClientLimits } from './stream/clients.ts';
import { streamRoutes } from './stream/routes.ts';

export interface AppOptions extends HttpOptions {
  settings: ReadSettings;
  agentRoutes?: readonly Route[];
  readPosts?: ReadPosts;
  numberedPosts?: NumberedPosts;
  streamLimits?: Partial<ClientLimits>;
  /** Monotonic milliseconds by which streams time their events: `performance.now` unless it is given. */
  streamClock?: () => number;
  /** How long the events of a stream wait for its posts to begin: a second unless it is given. */
  postsWaitMs?: number | undefined;
  /** Whether the chain is the local one: pages say so. */
  isLocalChain?: boolean | undefined;
}

/** The API: its table of routes, served over HTTP. */
export function createApp(options: AppOptions): Koa {
  const { settings } = options;
  const deps: ReadDeps = {
    latest: options.latest,
    settings,
    readPosts: options.readPosts ?? null,
  };
  const streams = streamRoutes({
    deps,
    posts: options.numberedPosts ?? null,
    onError: (error) => options.onError?.(error, '/stream'),
    ...(options.streamLimits === undefined ? {} : { limits: options.streamLimits }),
    ...(options.streamClock === undefined ? {} : { clock: options.streamClock }),
    postsWaitMs: options.postsWaitMs,
  });
  const routes = [...readRoutes(deps), ...streams.routes];
  routes.push(...(options.agentRoutes ?? []));
  routes.push(decimalsRoute);
  routes.push(openApiRoute(() => openApi(settings.serviceName, routes)));
  const { serviceName: service, programId } = settings;
  const explorer = explorerRoutes({ service, programId, isLocalChain: options.isLocalChain === true });
  routes.push(...explorer.pages);
  const app = createHttp([...routes, ...explorer.others], options);
  app.once(CLOSING, streams.close);
  return app;
}
