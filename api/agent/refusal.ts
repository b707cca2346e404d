import { REFUSALS, type RefusalCode } from '../../schemas/refusals.ts';
import type { RouteReply } from '../http/route.ts';

/** A refusal that is sent to the agent: nothing was stored. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: RefusalCode;
  /** Seconds after which the same request may be accepted. */
  readonly retryAfter: number | null;

  constructor(code: RefusalCode, sentence: string, retryAfter: number | null = null) {
    super(sentence);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  get status(): number {
    return REFUSALS[this.code];
  }
}

/** A limit of so many in any 60 seconds is reached. @param wait seconds until one more fits. */
export function rateLimited(what: string, wait: number): Refusal {
  const seconds = Math.max(1, wait);
  return new Refusal('rate_limited', `${what}; try again in ${seconds} s`, seconds);
}

export function replyOf(refusal: Refusal): RouteReply {
  const { status, message, code, retryAfter } = refusal;
  return {
    status,
    body: { error: message, code },
    headers: {
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...(retryAfter === null ? {} : { 'Retry-After': String(retryAfter) }),
    },
  };
}
