import { type Static, Type } from 'typebox';
import { closed, NumberOrNull, PolicyCount, TextOrNull, TimeOrNull } from './parts.ts';

/** `GET /origins` */
export const OriginsResponse = Type.Object(
  {
    source: Type.Literal('chain:Origin accounts'),
    items: Type.Array(
      Type.Object(
        {
          id: Type.Number(),
          pubkey: Type.String(),
          name: Type.String(),
          asset_class_mask: Type.Number(),
          max_risk: Type.Number(),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type OriginsResponse = Static<typeof OriginsResponse>;

/** `GET /models`. `registeredAt` is the time of the last change. */
export const ModelsResponse = Type.Object(
  {
    source: Type.Literal('chain:Model accounts'),
    items: Type.Array(
      Type.Object(
        {
          id: Type.Number(),
          name: Type.String(),
          provider: Type.String(),
          enabled: Type.Boolean(),
          registeredAt: TimeOrNull,
        },
        closed,
      ),
    ),
  },
  closed,
);
export type ModelsResponse = Static<typeof ModelsResponse>;

export const QuotesQuery = Type.Object({
  search: Type.Optional(
    Type.String({ description: 'Case-insensitive substring of the symbol or the name.' }),
  ),
});

/** `GET /quotes`: the launch venue's pair catalogue, at most 600 rows. Null numbers mean no reading, not zero. */
export const QuotesResponse = Type.Object(
  {
    source: Type.String(),
    items: Type.Array(
      Type.Object(
        {
          mint: Type.String(),
          symbol: TextOrNull,
          name: TextOrNull,
          decimals: Type.Number(),
          category: Type.String({
            description:
              'custom, backpack, xstock, prestock, currency, solana, collectible, tessera or leverage',
          }),
          launchable: Type.Boolean(),
          launchpadReady: Type.Boolean(),
          logoUrl: TextOrNull,
          policyCount: PolicyCount,
          startMarketCapUsd: NumberOrNull,
          graduationMarketCapUsd: NumberOrNull,
          graduationMultiple: NumberOrNull,
        },
        closed,
      ),
    ),
    absent: Type.Optional(Type.Literal(true)),
    reason: Type.Optional(Type.String()),
  },
  closed,
);
export type QuotesResponse = Static<typeof QuotesResponse>;
