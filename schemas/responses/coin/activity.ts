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
          'The logs were cut: what the transaction itself tells, all events of the kind as one; a field it does not tell is left out.',
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
