import type { Context, Next } from 'koa';
import { BusyError } from '../../runtime/errors.ts';
import { sendJson } from './answers/answers.ts';
import { stateOf } from './answers/request-state.ts';
import { ClientGoneError } from './body.ts';
import { METHOD_NOT_ALLOWED, METHODS } from './methods.ts';
import { publicDetail } from './public-detail.ts';

/** What is called with errors and answered requests, and what no answer may hold. */
export interface Reporting {
  /** Texts that no answer may hold. */
  secrets?: readonly string[];
  onError?(error: unknown, path: string): void;
  onAnswered?(method: string, path: string, status: number, seconds: number): void;
}

export function measured({ onAnswered }: Reporting) {
  return async (ctx: Context, next: Next) => {
    const startedAt = stateOf(ctx).startedAt ?? performance.now();
    await next();
    const { gone, route } = stateOf(ctx);
    if (gone === true) return;
    onAnswered?.(ctx.method, route ?? 'none', ctx.status, (performance.now() - startedAt) / 1000);
  };
}

/** Header fields of every answer, names and values in turns. */
export const COMMON_HEADERS: readonly string[] = [
  ...['Access-Control-Allow-Origin', '*'],
  ...['Access-Control-Expose-Headers', 'Age, ETag, Link, Retry-After, WWW-Authenticate'],
  // Answers repeat what strangers wrote: no browser is to take one for a page.
  ...['X-Content-Type-Options', 'nosniff'],
];

export function forAllOrigins({ res }: Context, next: Next): Promise<void> {
  for (let at = 0; at < COMMON_HEADERS.length; at += 2)
    res.setHeader(COMMON_HEADERS[at] as string, COMMON_HEADERS[at + 1] as string);
  return next();
}

/** The middleware behind this reads the path, and some request targets are no address that could have one. */
export function unreadableTargets(ctx: Context, next: Next): Promise<void> | void {
  if (hasPath(ctx)) return next();
  sendJson(ctx, 404, { error: `no route for ${ctx.method} ${ctx.url}` });
}

function hasPath(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

export function failuresAsJson(options: Reporting) {
  return async (ctx: Context, next: Next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof ClientGoneError) {
        stateOf(ctx).gone = true;
        ctx.respond = false;
        return;
      }
      if (error instanceof BusyError) {
        ctx.set('Retry-After', '1');
        sendJson(ctx, 503, { error: `${error.message}; try again in 1 s`, code: 'busy' });
        return;
      }
      options.onError?.(error, ctx.path);
      sendJson(ctx, 500, { error: 'internal error', detail: publicDetail(error, options.secrets ?? []) });
    }
  };
}

export function methods(ctx: Context, next: Next): Promise<void> | void {
  if (ctx.method === 'OPTIONS') {
    ctx.set('Allow', METHODS);
    ctx.set('Access-Control-Allow-Methods', METHODS);
    ctx.set('Access-Control-Allow-Headers', 'Authorization, Content-Type, If-None-Match, Last-Event-ID');
    ctx.set('Access-Control-Max-Age', '86400');
    ctx.status = 204;
    return;
  }
  if (ctx.method === 'GET' || ctx.method === 'POST') return next();
  ctx.set('Allow', METHODS);
  sendJson(ctx, 405, { error: METHOD_NOT_ALLOWED });
}

/** Answers requests that no route took. */
export function unknownPaths(ctx: Context): void {
  sendJson(ctx, 404, { error: `no route for ${ctx.method} ${ctx.path}` });
}
