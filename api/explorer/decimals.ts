import { Type } from 'typebox';
import { BusyBody, ErrorBody } from '../../schemas/responses/parts.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { SharedRoute } from '../http/route.ts';

/** As many as a page asks for at a time. */
const MOST_MINTS = 100;
const VALID = `Valid: ${MOST_MINTS} public keys at most, separated by commas`;

/**
 * The decimals of launched tokens, which rankings do not have; null where not known. One request for a page of rows.
 */
export const decimalsRoute: SharedRoute = {
  method: 'GET',
  path: '/explorer/decimals',
  summary: 'Decimals of tokens by mint, for the explorer.',
  query: Type.Object({ mints: Type.String({ description: VALID }) }),
  responses: {
    200: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()])),
    400: ErrorBody,
    503: BusyBody,
  },
  cached: true,
  answer: ({ query }, view) => {
    const mints = [...new Set((query.get('mints') ?? '').split(','))];
    if (mints.length > MOST_MINTS) return { status: 400, body: { error: `too many mints. ${VALID}` } };
    const other = mints.find((mint) => decodeKey(mint) === null);
    if (other !== undefined) return { status: 400, body: { error: `unknown mint "${other}". ${VALID}` } };
    const rows = view.rows('mint', mints);
    const decimals = (mint: string) => {
      const row = rows.get(mint);
      return row?.exists === 1 ? row.decimals : null;
    };
    return { status: 200, body: Object.fromEntries(mints.map((mint) => [mint, decimals(mint)])) };
  },
};
