import type { Subscription } from '../geyser/client.ts';
import type { StreamEndedError } from '../geyser/ended.ts';
import { FULL_SCOPE, type RequestScope, scopeAfter, type Tried } from './after-refusal.ts';

/** The requests for followed addresses, and what the provider made of them. */
export interface FollowedRequests {
  /** What is asked for next. */
  request(fromSlot: bigint | null): Subscription & { name: string };
  /** The addresses of the last request. */
  streamed(): readonly string[];
  /**
   * A block meta came by the filter of that name: answers the name of the last request where it is known to be at work
   * by now, else null.
   */
  atWork(filter: string): string | null;
  /** Whether the last request was seen at work. */
  hasWorked(): boolean;
  ask(): RequestScope;
  /** The stream ended before the request was seen at work. */
  ended(why: StreamEndedError): void;
  /** No replay is asked for the next time. */
  withoutReplay(): void;
  /** Everything is asked for again, whatever was refused. */
  reset(): void;
}

export interface FollowedRequestsOptions {
  commitment: 'confirmed' | 'finalized';
  /** Every followed address, what matters most first. */
  addresses(): readonly string[];
  /** Called at each request, with all addresses and how many of them it asks for. */
  onRequest(all: readonly string[], streamed: number): void;
}

/** A rewrite counts as at work after so many slots, where no name of a request comes back. */
const UNNAMED_METAS = 32;

const NAME = 'followed-';
/** Gateways may put something before a name, or behind it. */
const NUMBER = new RegExp(`${NAME}(\\d+)`);

const nameOf = (request: number): string => `${NAME}${request}`;

export function createFollowedRequests({
  commitment,
  addresses,
  onRequest,
}: FollowedRequestsOptions): FollowedRequests {
  let ask: RequestScope = FULL_SCOPE;
  let tried: Tried | null = null;
  let requests = 0;
  /** Block metas since the last request. */
  let metas = 0;
  let streamed: string[] = [];
  return {
    request: (fromSlot) => {
      requests += 1;
      metas = 0;
      const all = addresses();
      streamed = all.slice(0, ask.cap ?? all.length);
      tried = { addresses: streamed.length, replay: fromSlot !== null };
      onRequest(all, streamed.length);
      return { programId: null, addresses: streamed, commitment, fromSlot, name: nameOf(requests) };
    },
    streamed: () => streamed,
    atWork: (filter) => {
      metas += 1;
      const named = NUMBER.exec(filter)?.[1];
      // Where no request is ever named, the last one counts as at work after a while.
      const isLast = named === undefined ? metas > UNNAMED_METAS : named === String(requests);
      if (!isLast) return null;
      tried = null;
      ask = { ...ask, replay: true, silent: 0 };
      return nameOf(requests);
    },
    hasWorked: () => tried === null,
    ask: () => ask,
    ended: (why) => {
      if (tried !== null) ask = scopeAfter(ask, tried, why);
    },
    withoutReplay: () => {
      ask = { ...ask, replay: false };
    },
    reset: () => {
      ask = FULL_SCOPE;
    },
  };
}
