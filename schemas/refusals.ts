import { type Static, type TSchema, Type } from 'typebox';

/** Every reason for which an agent route refuses, and the HTTP status of the refusal. */
export const REFUSALS = {
  invalid_request: 400,
  invalid_challenge: 401,
  bad_signature: 401,
  invalid_session: 401,
  not_the_agent: 403,
  not_an_options_policy: 403,
  unknown_policy: 404,
  unknown_position: 404,
  already_held: 409,
  already_released: 409,
  too_large: 413,
  unknown_instrument: 422,
  size_out_of_range: 422,
  size_off_step: 422,
  contract_mismatch: 422,
  rate_limited: 429,
  too_many_exposures: 429,
  venue_unreachable: 503,
  chain_unreachable: 503,
  busy: 503,
} as const;

export type RefusalCode = keyof typeof REFUSALS;

const codes = Object.keys(REFUSALS) as RefusalCode[];

export const RefusalBody = Type.Object(
  { error: Type.String(), code: Type.Union(codes.map((code) => Type.Literal(code))) },
  { additionalProperties: false, $id: 'Refusal' },
);
export type RefusalBody = Static<typeof RefusalBody>;

/** The statuses of these refusals with the body's schema, for a route's table of responses. */
export function refusalResponses(among: readonly RefusalCode[]): Record<number, TSchema> {
  return Object.fromEntries(among.map((code) => [REFUSALS[code], RefusalBody]));
}
