import type { CloseRequest, OpenRequest, PostRequest } from '../../schemas/requests.ts';
import type { Exposure, ReleaseResponse, StatusFilter } from '../../schemas/responses/agent.ts';
import type { AgentPost, PostsResponse } from '../../schemas/responses/coin/posts.ts';
import { markToMark } from '../agent/options/quote.ts';
import { createClient } from './client.ts';
import { everyExposure } from './exposures.ts';
import { ApiError, type HttpOptions } from './http.ts';
import { createSigner, type Signer } from './key.ts';
import { type Login, login } from './login.ts';
import { onceOnly } from './once-only.ts';
import { listed, type Page } from './page.ts';

export interface AgentOptions extends HttpOptions {
  mint: string;
  /** The secret key, 64 bytes, or a signer that holds it elsewhere. */
  key: Uint8Array | Signer;
  /** PUBLIC_URL of the service, where that is not `url`. */
  publicUrl?: string;
  /** SERVICE_NAME of the service, checked where it is given. */
  service?: string;
  /** Unix milliseconds. */
  clock?: () => number;
}

/** An agent of one policy: it signs in by itself, and a write whose answer is lost is looked for before it is repeated. */
export interface Agent {
  readonly address: string;
  readonly mint: string;
  post(request: PostRequest): Promise<AgentPost>;
  open(request: OpenRequest): Promise<Exposure>;
  close(request: CloseRequest): Promise<ReleaseResponse>;
  /** All of them, however many pages that takes. */
  positions(status?: StatusFilter): Promise<Exposure[]>;
  feed(page?: Page): Promise<PostsResponse>;
}

/** A session this close to its end is renewed before it is used. */
const RENEW_MS = 60_000;
/** How long a request that got no answer may still take to be stored. */
const SETTLE_MS = 1_500;
const REMEMBERED = 200;
/** How far the clocks of a service's machines may be apart, and ours may have drifted since the sign-in. */
const CLOCKS_MS = 2_000;

interface Sending<T> {
  send(live: Login): Promise<T>;
  /** @param mayBe whether something stored under this name at this time may be the write that got no answer. */
  find(mayBe: (name: string, at: string | null) => boolean): Promise<T | null>;
  /** The name of what was stored. */
  stored(answer: T): string;
}

const posted = ({ id }: AgentPost) => `post ${id}`;
const opened = ({ positionId }: Exposure) => `open ${positionId}`;
const closed = ({ positionId }: CloseRequest) => `close ${positionId}`;

export function createAgent(options: AgentOptions): Agent {
  const { mint, clock = Date.now, retryMs: settleMs = SETTLE_MS } = options;
  const signer = options.key instanceof Uint8Array ? createSigner(options.key) : options.key;
  const client = createClient(options);
  const terms = {
    ...{ client, signer, mint, clock },
    publicUrl: options.publicUrl ?? options.url,
    service: options.service ?? null,
  };
  let signingIn: Promise<Login> | null = null;
  const answered: string[] = [];

  /** Starts one sign-in, which all calls that need it share; a failed one is not remembered. */
  function signIn(): Promise<Login> {
    const begun = login(terms);
    signingIn = begun;
    begun.catch(() => forget(begun));
    return begun;
  }

  function forget(begun: Promise<Login>): void {
    if (signingIn === begun) signingIn = null;
  }

  async function session(): Promise<Login> {
    if (signingIn === null) return signIn();
    const begun = signingIn;
    const live = await begun;
    if (live.expiresAt - clock() - live.clockOffsetMs > RENEW_MS) return live;
    forget(begun);
    return signingIn ?? signIn();
  }

  /** A session may end before its time; a refused request stored nothing, so it is repeated under a new one. */
  async function signedIn<T>(use: (live: Login) => Promise<T>): Promise<T> {
    const live = await session();
    const begun = signingIn;
    try {
      return await use(live);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_session') throw error;
      if (begun !== null) forget(begun);
      return use(await session());
    }
  }

  /**
   * `find` must give nothing older than the write, and nothing that was the answer to an earlier write of this client.
   */
  async function write<T>({ send, find, stored }: Sending<T>): Promise<T> {
    const startedAt = clock();
    const answer = await onceOnly({
      settleMs,
      send: (leaves) =>
        signedIn((live) => {
          leaves();
          return send(live);
        }),
      find: async () => {
        const { clockOffsetMs } = await session();
        const since = startedAt + clockOffsetMs - CLOCKS_MS;
        return find((name, at) => !answered.includes(name) && Date.parse(at ?? '') >= since);
      },
    });
    answered.push(stored(answer));
    if (answered.length > REMEMBERED) answered.shift();
    return answer;
  }

  const exposures = (status: StatusFilter) =>
    everyExposure((page) => signedIn(({ token }) => client.exposures(token, status, page)));
  /** Reads no further than to the first that is `wanted`. */
  const exposure = async (status: StatusFilter, wanted: (row: Exposure) => boolean) => {
    for await (const row of exposures(status)) if (wanted(row)) return row;
    return null;
  };

  return {
    address: signer.address,
    mint,
    post: (request) =>
      write({
        send: ({ token }) => client.post(token, request),
        find: async (mayBe) => {
          const { posts } = await client.posts(mint, { limit: 100 });
          const mine = listed(posts).filter((post) => isOwn(post, request));
          return mine.find((post) => mayBe(posted(post), post.createdAt)) ?? null;
        },
        stored: posted,
      }),
    open: (request) =>
      write({
        send: ({ token }) => client.openExposure(token, request),
        find: (mayBe) => exposure('held', (row) => isSame(row, request) && mayBe(opened(row), row.openedAt)),
        stored: opened,
      }),
    close: (request) =>
      write({
        send: ({ token }) => client.closeExposure(token, request),
        find: async (mayBe) =>
          releaseOf(
            await exposure(
              'released',
              (row) => isReleased(row, request) && mayBe(closed(request), row.releasedAt),
            ),
          ),
        stored: () => closed(request),
      }),
    positions: async (status = 'held') => {
      const rows: Exposure[] = [];
      for await (const row of exposures(status)) rows.push(row);
      return rows;
    },
    feed: (page) => client.posts(mint, page),
  };

  function isOwn(post: AgentPost, { kind, text, venue = null, ref = null }: PostRequest): boolean {
    const same = post.kind === kind && post.text === text && post.venue === venue && post.ref === ref;
    return same && post.agent === signer.address;
  }

  function isSame(row: Exposure, { instrument, direction, size, reason }: OpenRequest): boolean {
    const sameContract = row.instrument === instrument && row.direction === direction;
    return sameContract && row.size === size && row.reason === reason && row.agent === signer.address;
  }
}

function isReleased(row: Exposure, { positionId, reason }: CloseRequest): boolean {
  return row.positionId === positionId && row.releaseReason === reason;
}

function releaseOf(position: Exposure | null): ReleaseResponse | null {
  if (position === null || position.releaseQuote === null) return null;
  const { direction, openQuote, releaseQuote } = position;
  return { position, markToMark: markToMark(direction, openQuote, releaseQuote) };
}
