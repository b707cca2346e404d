import type { TSchema } from 'typebox';
import type { View } from '../latest/view.ts';
import type { TaggedBytes } from './answers/tagged-bytes.ts';

/** What a handler gets of its request; nothing of Koa. */
export interface RouteContext {
  /** Decoded path parameters. */
  params: Record<string, string>;
  query: URLSearchParams;
  /**
   * The parsed JSON body of a POST; undefined where it is no JSON, TOO_LARGE on a `bearer` route where it is too large.
   */
  body: unknown;
  /** Header names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Address of the client, as TRUST_PROXY says to read it. */
  clientAddress: string;
  /** Unix milliseconds at which the request is answered. */
  now: number;
}

export interface RouteReply {
  status: number;
  /** Sent as JSON; bytes go as they are and a readable stream as it comes, under the Content-Type among the headers. */
  body: unknown;
  /** What follows a body of bytes. */
  rest?: readonly TaggedBytes[];
  headers?: Record<string, string>;
}

/** What the answer of a shared route may depend on, beside memory. */
export type SharedContext = Pick<RouteContext, 'params' | 'query'>;

/** One line of the table that feeds the router, the 404 and 405 answers and the OpenAPI page. */
export type Route = SharedRoute | OwnRoute;

interface RouteLine {
  method: 'GET' | 'POST';
  /** With parameters as `/coins/:mint`. */
  path: string;
  summary: string;
  /** An object schema: its properties are the query parameters that the route knows. */
  query?: TSchema;
  /** Likewise of the header fields that it reads. */
  headers?: TSchema;
  body?: TSchema;
  /** Media type of an answer that is no JSON. */
  mediaType?: string;
  /** The schema of the answer for each status. */
  responses: Record<number, TSchema>;
  /** Whether it needs a session's token: the token is checked before the body is, even before its size. */
  bearer?: true;
}

/** Answers are shared between clients as long as what they are made of stays the same: never for an agent route. */
export interface SharedRoute extends RouteLine {
  cached: true;
  /** Whether it may read much: only a few of these run at a time, so that others find room beside them. */
  long?: true;
  answer(context: SharedContext, view: View): RouteReply;
}

/** Answers each request by itself. */
export interface OwnRoute extends RouteLine {
  cached: false;
  /** Whether it asks Postgres: such reads have a gate of their own, so that others do not wait while Postgres hangs. */
  readsPostgres?: true;
  handler(context: RouteContext): Promise<RouteReply>;
}

/** Whether a client that has the answer already gets a 304 to the ETag that it came with. */
export function supportsEtag(route: Route): boolean {
  return route.cached || route.readsPostgres === true;
}
