import { Type } from 'typebox';
import { RankingsQuery } from './rankings.ts';

const after = Type.Optional(
  Type.String({
    description: 'Id of the last event received; the Last-Event-ID header takes precedence.',
  }),
);

/** What a browser sends by itself when it reconnects. */
export const StreamHeaders = Type.Object({
  'Last-Event-ID': Type.Optional(
    Type.String({ description: 'Id of the last event received: the stream continues after it.' }),
  ),
});

const mint = Type.Optional(
  Type.String({ description: 'Mint of a launched token: only what belongs to it is sent.' }),
);

export const ActivityStreamQuery = Type.Object({
  mint,
  kind: Type.Optional(Type.String({ description: 'Only events of this kind are sent.' })),
  posts: Type.Optional(
    Type.Enum(['true', 'false'], { description: 'true: posts of agents are sent on the same stream, too.' }),
  ),
  after,
});

export const PostStreamQuery = Type.Object({ mint, after });

const { limit: _, offset: __, ...filters } = RankingsQuery.properties;
export const RankingStreamQuery = Type.Object({ ...filters, after });

export const EventStream = Type.String({
  description:
    'Server-sent events. `activity`, `post` and `ranking` carry one line of JSON. `gap` means that the list it names has to be read instead, for example because events that were sent have been taken back; `end` closes the stream with a reason. The list that a gap names may already contain what is sent after the gap: skip duplicates, events by signature, slot, kind and summary, posts by id.',
});
