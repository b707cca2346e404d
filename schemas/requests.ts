import { type Static, Type } from 'typebox';
import { Direction } from './responses/agent.ts';
import { PostKind } from './responses/coin/posts.ts';

/** Bodies of the agent routes. Lengths are counted in Unicode code points by the service, not by these schemas. */

const Reason = Type.String({ minLength: 1, description: '1 to 1000 Unicode code points, kept as written.' });
const Key = Type.String({ description: 'A public key in base58.' });

export const ChallengeRequest = Type.Object({ mint: Key, agent: Key });
export type ChallengeRequest = Static<typeof ChallengeRequest>;

export const SessionRequest = Type.Object({
  mint: Key,
  agent: Key,
  nonce: Type.String(),
  signature: Type.String({
    description: 'The ed25519 signature of the bytes of `message`, in base64, base64url or base58.',
  }),
});
export type SessionRequest = Static<typeof SessionRequest>;

const optional = Type.Optional(Type.Union([Type.String(), Type.Null()]));

export const PostRequest = Type.Object({
  kind: PostKind,
  text: Type.String({ minLength: 1, description: '1 to 1000 Unicode code points.' }),
  venue: optional,
  ref: optional,
});
export type PostRequest = Static<typeof PostRequest>;

export const OpenRequest = Type.Object({
  instrument: Type.String(),
  direction: Direction,
  size: Type.String({
    description: 'Number of contracts: digits with at most one decimal point, up to 1000 characters.',
  }),
  reason: Reason,
  optionType: Type.Optional(
    Type.Union([Type.Literal('C'), Type.Literal('P'), Type.Literal('call'), Type.Literal('put')]),
  ),
  underlying: Type.Optional(Type.String()),
  strike: Type.Optional(Type.Union([Type.String(), Type.Number()])),
});
export type OpenRequest = Static<typeof OpenRequest>;

export const CloseRequest = Type.Object({ positionId: Type.String(), reason: Reason });
export type CloseRequest = Static<typeof CloseRequest>;
