import type { Context } from 'koa';
import type { AlsoKept } from '../turns/turns.ts';
import type { Form } from './forms.ts';

/** What the stages of a request leave to each other. */
export interface RequestState {
  /** Who asks; known before a request's turn, and read behind that. */
  address: string;
  /** Its path in the table of routes. */
  route?: string;
  /** Where its turn began before a route was looked for. */
  startedAt?: number;
  /** Of the turn that it has. */
  alsoKept?: AlsoKept;
  /** Why it was given no turn. */
  refusal?: unknown;
  /** What was sent. */
  answer?: Form;
  /** Nobody is there to be answered. */
  gone?: boolean;
}

export const stateOf = (ctx: Context): RequestState => ctx.state as RequestState;
