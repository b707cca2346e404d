import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Route } from './route.ts';

const WILDCARD = '/{*path}';

/**
 * Hands a request to its route. A router tries each of its routes, so there is one for each first part of a path. A path
 * with a broken escape is known to none but the one that takes every path of its first part.
 */
export function routing(
  routes: readonly Route[],
  handlerOf: (route: Route) => (ctx: Context) => unknown,
): Middleware {
  const routers = new Map<string, Middleware>();
  const wildcards = new Map(
    routes.filter(({ path }) => path.endsWith(WILDCARD)).map((route) => [firstPart(route.path), route]),
  );
  for (const [first, own] of Map.groupBy(routes, ({ path }) => firstPart(path))) {
    const router = new Router({ sensitive: true, strict: true });
    for (const route of own) {
      if (route.method === 'GET') router.get(route.path, handlerOf(route));
      else router.post(route.path, handlerOf(route));
    }
    routers.set(first, router.routes() as unknown as Middleware);
  }
  return (ctx, next) => {
    const first = firstPart(ctx.path);
    if (isDecodable(ctx.path)) return routers.get(first)?.(ctx, next) ?? next();
    const route = wildcards.get(first);
    if (route?.method !== ctx.method) return next();
    ctx.params = { path: ctx.path.slice(`/${first}/`.length) };
    return handlerOf(route)(ctx);
  };
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** What stands behind the first slash, up to the second. */
function firstPart(path: string): string {
  const end = path.indexOf('/', 1);
  return path.slice(1, end < 0 ? undefined : end);
}
