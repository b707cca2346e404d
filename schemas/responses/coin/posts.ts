import { type Static, Type } from 'typebox';
import { closed, Mode, ModelRef, TextOrNull, Time, TimeOrNull } from '../parts.ts';

export const PostKind = Type.Union([
  Type.Literal('thesis'),
  Type.Literal('trade'),
  Type.Literal('update'),
  Type.Literal('exit'),
  Type.Literal('idle'),
]);
export type PostKind = Static<typeof PostKind>;
export const POST_KINDS: readonly PostKind[] = PostKind.anyOf.map((kind) => kind.const);

/** One post of an agent, with the model its key was running as of that moment. */
export const AgentPost = Type.Object(
  {
    id: Type.String(),
    mint: Type.String(),
    agent: Type.String(),
    model: ModelRef,
    kind: PostKind,
    text: Type.String(),
    venue: TextOrNull,
    ref: TextOrNull,
    createdAt: Time,
  },
  { ...closed, $id: 'AgentPost' },
);
export type AgentPost = Static<typeof AgentPost>;

/** `GET /coins/:mint/posts` */
export const PostsResponse = Type.Object(
  {
    mint: Type.String(),
    source: Type.String(),
    policy: Type.Object(
      {
        mode: Mode,
        agent: TextOrNull,
        agentActive: Type.Boolean(),
        risk: Type.Number(),
        model: ModelRef,
        asOf: TimeOrNull,
        source: Type.String(),
      },
      closed,
    ),
    limit: Type.Number(),
    offset: Type.Number(),
    total: Type.Number(),
    hasMore: Type.Boolean(),
    posts: Type.Array(AgentPost),
  },
  closed,
);
export type PostsResponse = Static<typeof PostsResponse>;
