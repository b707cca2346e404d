import type { Context } from 'koa';
import type { ChargeThread } from '../turns/turns.ts';
import type { Form } from './forms.ts';

/** What the middleware of a request leave to each other. */
export interface RequestState {
  /** The client's address; set before the request's turn, and read from then on. */
  address: string;
  /** Its path in the table of routes. */
  route?: string;
  /** When it began, by `performance.now`; set where its turn came before any routing. */
  startedAt?: number;
  /** Given by the turn that it has. */
  chargeThread?: ChargeThread;
  /** Why it was given no turn. */
  refusal?: unknown;
  /** What was sent. */
  answer?: Form;
  /** Set where the client went away. */
  gone?: boolean;
}

export const stateOf = (ctx: Context): RequestState => ctx.state as RequestState;
