import { type Static, Type } from 'typebox';
import { closed, Slot, TimeOrNull } from '../parts.ts';

export const ActivityItem = Type.Object(
  {
    kind: Type.String(),
    actor: Type.String({ description: 'The role the instruction requires, not a recorded signer.' }),
    summary: Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
    ),
    slot: Slot,
    signature: Type.String(),
    block_time: TimeOrNull,
    derived: Type.Optional(
      Type.Literal(true, {
        description:
          'True if the transaction’s logs were cut: the item is derived from its instructions and balances, stands for all its events of this kind, and leaves out fields that they do not show.',
      }),
    ),
  },
  closed,
);
export type ActivityItem = Static<typeof ActivityItem>;

/** `GET /coins/:mint/activity`, newest first. */
export const ActivityResponse = Type.Object(
  {
    mint: Type.String(),
    limit: Type.Number(),
    offset: Type.Number(),
    items: Type.Array(ActivityItem),
  },
  closed,
);
export type ActivityResponse = Static<typeof ActivityResponse>;
