import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Route } from './route.ts';

/** Hands a request to its route. A router tries each of its routes, so there is one for each first part of a path. */
export function routing(
  routes: readonly Route[],
  handlerOf: (route: Route) => (ctx: Context) => unknown,
): Middleware {
  const routers = new Map<string, Middleware>();
  for (const [first, own] of Map.groupBy(routes, ({ path }) => firstPart(path))) {
    const router = new Router({ sensitive: true, strict: true });
    for (const route of own) {
      if (route.method === 'GET') router.get(route.path, handlerOf(route));
      else router.post(route.path, handlerOf(route));
    }
    routers.set(first, router.routes() as unknown as Middleware);
  }
  return (ctx, next) => routers.get(firstPart(ctx.path))?.(ctx, next) ?? next();
}

/** What stands behind the first slash, up to the second. */
function firstPart(path: string): string {
  const end = path.indexOf('/', 1);
  return path.slice(1, end < 0 ? undefined : end);
}
