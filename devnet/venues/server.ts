import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { perVenue, type RemoteVenue } from '../../schemas/venues/remote.ts';
import type { Chain } from '../chain/chain.ts';
import { answering } from '../http/answering.ts';
import { metadataDocument, pairs, pricing, secondPrices } from './catalogue.ts';
import { optionsMethod } from './options.ts';
import { perpInfo } from './perp.ts';

export type VenueName = RemoteVenue | 'catalogue' | 'price' | 'metadata';
/** `garbage` answers bytes that are not JSON, `busy` answers 503, `hang` never answers. */
export type VenueFault = 'garbage' | 'busy' | 'hang' | null;

export interface VenuesOptions {
  chain: Chain;
  port: number;
  host?: string;
  clock?: () => number;
}

export interface VenuesServer {
  /** Base URLs by venue. */
  remote: Record<RemoteVenue, string>;
  catalogueUrl: string;
  priceUrl: string;
  metadataUrl: string;
  fault(venue: VenueName, how: VenueFault): void;
  close(): Promise<void>;
}

const MAX_BODY = 100_000;

interface Answer {
  status: number;
  body: unknown;
  type?: string;
}

const notFound: Answer = {
  status: 404,
  body: { error: { code: 'not_found', message: 'nothing there', retryable: false, retryAfterSeconds: null } },
};

type RemoteAnswer = (path: string, body: unknown, chain: Chain, now: number) => Answer | null;

/** What each venue that holds Remote accounts answers; null where it has nothing at that path. */
const REMOTE_ANSWERS: Record<RemoteVenue, RemoteAnswer> = {
  perp: (path, body, chain) => (path === 'info' ? perpInfo(chain, body) : null),
  options: (path, body, _, now) => {
    if (!path.startsWith('public/')) return null;
    const method = path.slice('public/'.length);
    const reply = optionsMethod(method, (body ?? {}) as Record<string, unknown>, now);
    return { status: 'error' in reply ? 400 : 200, body: { id: randomUUID(), ...reply } };
  },
};

const isRemote = (venue: string): venue is RemoteVenue => Object.hasOwn(REMOTE_ANSWERS, venue);

/** Serves every venue of the local world on one port, each below its own path. */
export async function serveVenues(options: VenuesOptions): Promise<VenuesServer> {
  const { chain, host = '127.0.0.1', clock = Date.now } = options;
  const faults = new Map<string, VenueFault>();

  const answer = (venue: string, path: string, query: URLSearchParams, body: unknown): Answer => {
    if (isRemote(venue)) return REMOTE_ANSWERS[venue](path, body, chain, clock()) ?? notFound;
    if (venue === 'catalogue' && path === 'pairs') return { status: 200, body: pairs(chain.seed) };
    if (venue === 'catalogue' && path === 'launchlab/pricing') {
      const found = pricing(chain.seed, query.get('quoteMint'), clock());
      return found === null ? notFound : { status: 200, body: found };
    }
    if (venue === 'price' && path === 'mint/price') {
      return { status: 200, body: secondPrices(chain.seed, (query.get('mints') ?? '').split(',')) };
    }
    const document = /^(\d{1,9})\.json$/.exec(path);
    if (venue === 'metadata' && document !== null) return metadataDocument(Number(document[1]));
    return notFound;
  };

  const server = http.createServer(
    answering(async (request, response) => {
      const url = new URL(request.url ?? '/', 'http://venues');
      const [, venue = '', ...rest] = url.pathname.split('/');
      const fault = faults.get(venue);
      if (fault === 'hang') return;
      if (fault === 'busy') return void response.writeHead(503).end('busy');
      if (fault === 'garbage') return void response.writeHead(200).end(Buffer.from([0xff, 0x00, 0x7b]));
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of request) {
        size += (chunk as Buffer).length;
        if (size > MAX_BODY) return void response.writeHead(413).end();
        chunks.push(chunk as Buffer);
      }
      const body = parse(Buffer.concat(chunks).toString('utf8'));
      if (body === undefined)
        return void response.writeHead(422).end('Failed to parse the request body as JSON');
      const reply = answer(venue, rest.join('/'), url.searchParams, body);
      const text =
        typeof reply.body === 'string' && reply.type !== undefined ? reply.body : JSON.stringify(reply.body);
      response.writeHead(reply.status, { 'content-type': reply.type ?? 'application/json' }).end(text);
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const base = `http://${host}:${(server.address() as { port: number }).port}`;
  return {
    remote: perVenue(
      (venue) => venue,
      (venue) => `${base}/${venue}`,
    ),
    catalogueUrl: `${base}/catalogue`,
    priceUrl: `${base}/price`,
    metadataUrl: base,
    fault: (venue, how) => void faults.set(venue, how),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function parse(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
