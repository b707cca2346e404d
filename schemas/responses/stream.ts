import { Type } from 'typebox';
import { RankingsQuery } from './rankings.ts';

const after = Type.Optional(
  Type.String({
    description: 'Id of the last event that was received; the Last-Event-ID header goes before it.',
  }),
);

/** What a browser sends by itself when it reconnects. */
export const StreamHeaders = Type.Object({
  'Last-Event-ID': Type.Optional(
    Type.String({ description: 'Id of the last event that was received: the stream goes on behind it.' }),
  ),
});

const mint = Type.Optional(Type.String({ description: 'Only what is of this launched token.' }));

export const ActivityStreamQuery = Type.Object({
  mint,
  kind: Type.Optional(Type.String({ description: 'Only events of this kind.' })),
  posts: Type.Optional(
    Type.Enum(['true', 'false'], { description: 'Posts of the agents too, on the same stream.' }),
  ),
  after,
});

export const PostStreamQuery = Type.Object({ mint, after });

const { limit: _, offset: __, ...filters } = RankingsQuery.properties;
export const RankingStreamQuery = Type.Object({ ...filters, after });

export const EventStream = Type.String({
  description:
    'Server-sent events: activity, post or ranking with one line of JSON; gap where something is to be read instead, as where events that were told were taken back; end with a reason. The list that a gap names may hold already what is told behind the gap: leave out what is already there, an event by signature, slot, kind and summary, a post by id.',
});
