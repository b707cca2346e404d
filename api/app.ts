import type Koa from 'koa';
import { explorerRoutes } from './explorer/routes.ts';
import { createHttp, type HttpOptions } from './http/app.ts';
import { openApi } from './http/openapi.ts';
import type { Route } from './http/route.ts';
import type { ReadPosts, ReadSettings } from './latest/read-deps.ts';
import { openApiRoute, readRoutes } from './routes.ts';

export interface AppOptions extends HttpOptions {
  settings: ReadSettings;
  agentRoutes?: readonly Route[];
  readPosts?: ReadPosts;
}

/** The API: its table of routes, served over HTTP. */
export function createApp(options: AppOptions): Koa {
  const { settings } = options;
  const routes = readRoutes({
    latest: options.latest,
    settings,
    readPosts: options.readPosts ?? null,
  });
  routes.push(...(options.agentRoutes ?? []));
  routes.push(openApiRoute(() => openApi(settings.serviceName, routes)));
  return createHttp([...routes, ...explorerRoutes(settings.serviceName)], options);
}
