import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Route } from './route.ts';

const WILDCARD = '/{*path}';

/**
 * Hands a request to its route. A router tries its routes one by one, so there is a router for each first and third
 * part of a path, or for each first part alone where the third is no fixed word. A path with a broken percent escape
 * only matches the wildcard route of its first part.
 */
export function routing(
  routes: readonly Route[],
  handlerOf: (route: Route) => (ctx: Context) => unknown,
): Middleware {
  const routers = new Map<string, Middleware>();
  const wildcards = new Map(
    routes.filter(({ path }) => path.endsWith(WILDCARD)).map((route) => [firstPart(route.path), route]),
  );
  const firstAlone = new Set(routes.filter(isOpen).map(({ path }) => firstPart(path)));
  const placeOf = (path: string): string => {
    const first = firstPart(path);
    return firstAlone.has(first) ? first : `${first}/${thirdPart(path)}`;
  };
  for (const [place, own] of Map.groupBy(routes, ({ path }) => placeOf(path))) {
    const router = new Router({ sensitive: true, strict: true });
    for (const route of own) {
      if (route.method === 'GET') router.get(route.path, handlerOf(route));
      else router.post(route.path, handlerOf(route));
    }
    routers.set(place, router.routes() as unknown as Middleware);
  }
  return (ctx, next) => {
    const { path } = ctx;
    if (isDecodable(path)) return routers.get(placeOf(path))?.(ctx, next) ?? next();
    const first = firstPart(path);
    const route = wildcards.get(first);
    if (route?.method !== ctx.method) return next();
    ctx.params = { path: path.slice(`/${first}/`.length) };
    return handlerOf(route)(ctx);
  };
}

/** Whether other parts of its path than the second may be anything. */
const isOpen = ({ path }: Route): boolean =>
  path.includes('{') || path.split('/')[3]?.startsWith(':') === true;

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The text behind the first slash, up to the second. */
const firstPart = (path: string): string => partFrom(path, 1);

/** The text behind the third slash, up to the fourth. */
function thirdPart(path: string): string {
  const second = path.indexOf('/', 1);
  const third = second < 0 ? -1 : path.indexOf('/', second + 1);
  return third < 0 ? '' : partFrom(path, third + 1);
}

function partFrom(path: string, begin: number): string {
  const end = path.indexOf('/', begin);
  return path.slice(begin, end < 0 ? undefined : end);
}
