import { Type } from 'typebox';
import { ErrorBody } from '../../schemas/responses/parts.ts';
import { preferredEncoding } from '../http/answers/accept-encoding.ts';
import type { OwnRoute, Route, RouteContext, RouteReply } from '../http/route.ts';
import { type Assets, readAssets } from './assets.ts';
import { ASSETS_PATH, asksForPages, document, PAGES, type Served } from './html.ts';

/** Scripts, styles and answers of this address alone; no inline code, no frame around it, no image from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const GUARDS = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
};
const FOR_GOOD = 'public, max-age=31536000, immutable';
/** A load balancer takes an answer with a head over 4 kB for a failed service, and sends it no requests for a while. */
const LONGEST_LOCATION = 2_000;

/** The routes of the explorer: `pages` are documents, each at its own address, that the OpenAPI page describes too. */
export interface ExplorerRoutes {
  pages: Route[];
  /** The files that the pages are made of, and addresses that lead to a page or to none. They come after `pages`. */
  others: Route[];
}

export function explorerRoutes(served: Served): ExplorerRoutes {
  let read: Assets | undefined;
  const assets = () => {
    read ??= readAssets();
    return read;
  };
  const pageOf = (status: number, title: string): RouteReply => ({
    status,
    body: Buffer.from(document(assets(), title, served)),
    headers: { ...GUARDS, 'Content-Type': 'text/html; charset=utf-8' },
  });
  const page = (path: string, title: string): OwnRoute => ({
    method: 'GET',
    path: `/explorer/${path}`,
    summary: `${title}: a page for people.`,
    mediaType: 'text/html',
    responses: { 200: Type.String() },
    cached: false,
    handler: async () => pageOf(200, title),
  });
  const others: OwnRoute[] = [
    {
      ...page('', 'Explorer'),
      path: '/explorer',
      handler: async ({ query }) => ledTo(addressOf('/explorer/', query) ?? '/explorer/'),
    },
    {
      method: 'GET',
      path: `${ASSETS_PATH}/:name`,
      summary: 'A file of the explorer; its name changes with its bytes.',
      mediaType: '*/*',
      responses: { 200: Type.String(), 404: ErrorBody },
      cached: false,
      handler: async (context) => file(assets(), context),
    },
    {
      ...page('{*path}', 'No page'),
      responses: { 404: ErrorBody },
      handler: async ({ params, query, headers }) => {
        const path = params.path ?? '';
        const meant = withoutSlash(path);
        const location = meant === null ? null : addressOf(meant, query);
        if (location !== null) return ledTo(location);
        const none: RouteReply = asksForPages(headers.accept)
          ? pageOf(404, 'No page')
          : { status: 404, body: { error: `no route for GET /explorer/${path}` } };
        return { ...none, headers: { ...none.headers, Vary: 'Accept' } };
      },
    },
  ];
  return { pages: Object.entries(PAGES).map(([path, title]) => page(path, title)), others };
}

const ledTo = (location: string): RouteReply => ({
  status: 308,
  body: Buffer.alloc(0),
  headers: { Location: location },
});

/**
 * An address with its query, so that a link keeps its filters when redirected; null where it is too long for a head.
 */
function addressOf(path: string, query: URLSearchParams): string | null {
  const location = query.size === 0 ? path : `${path}?${query}`;
  return location.length > LONGEST_LOCATION ? null : location;
}

/** The address of the page that a path with a slash too many means; null where there is none. */
function withoutSlash(path: string): string | null {
  if (!path.endsWith('/')) return null;
  const names = path.slice(0, -1).split('/');
  const isMeant = Object.keys(PAGES).some((page) => {
    const own = page.split('/');
    return (
      own.length === names.length && own.every((name, at) => name === names[at] || isGiven(name, names[at]))
    );
  });
  return isMeant ? `/explorer/${names.map(encodeURIComponent).join('/')}` : null;
}

const isGiven = (name: string, value: string | undefined) => name.startsWith(':') && value !== '';

async function file(assets: Assets, { params, headers }: RouteContext): Promise<RouteReply> {
  const found = assets.files.get(params.name ?? '');
  if (found === undefined) return { status: 404, body: { error: `no file ${params.name}` } };
  const encoding = preferredEncoding(headers['accept-encoding'] ?? '');
  return {
    status: 200,
    body: encoding === null ? found.bytes : await found.packed(encoding),
    headers: {
      ...GUARDS,
      'Content-Type': found.type,
      'Cache-Control': FOR_GOOD,
      Vary: 'Accept-Encoding',
      ...(encoding === null ? {} : { 'Content-Encoding': encoding }),
    },
  };
}
