import { type TSchema, Type } from 'typebox';
import { type RefusalCode, refusalResponses } from '../../schemas/refusals.ts';
import {
  ChallengeRequest,
  CloseRequest,
  OpenRequest,
  PostRequest,
  SessionRequest,
} from '../../schemas/requests.ts';
import {
  Challenge,
  Exposure,
  ExposuresResponse,
  ReleaseResponse,
  Session,
} from '../../schemas/responses/agent.ts';
import { AgentPost } from '../../schemas/responses/coin/posts.ts';
import type { OwnRoute, Route } from '../http/route.ts';
import type { AgentParts } from './agent-parts.ts';
import { closeExposure, listExposures, openExposure } from './options/options.ts';
import { post } from './posts/posts.ts';
import { type AgentCall, authenticated, open } from './session/authenticated.ts';
import { challenge } from './session/challenge.ts';
import { session } from './session/session.ts';

const ALWAYS = [
  'invalid_request',
  'not_the_agent',
  'unknown_policy',
  'rate_limited',
  'chain_unreachable',
  'busy',
] as const;
const BODY = [...ALWAYS, 'too_large'] as const;
const BEARER = [...BODY, 'invalid_session'] as const;
const OPENING = [
  'not_an_options_policy',
  'already_held',
  'unknown_instrument',
  'too_many_exposures',
] as const;

/** Every route of the agents. */
export function agentRoutes(parts: AgentParts): Route[] {
  const line = (
    method: Route['method'],
    path: string,
    summary: string,
    answers: readonly [status: number, schema: TSchema],
    refusals: readonly RefusalCode[],
  ) => ({
    method,
    path: `/api/agent/${path}`,
    summary,
    responses: { ...refusalResponses(refusals), [answers[0]]: answers[1] },
    cached: false as const,
  });
  const bearer = (handle: (parts: AgentParts, call: AgentCall) => ReturnType<OwnRoute['handler']>) =>
    authenticated(parts, handle);
  return [
    {
      ...line(
        'POST',
        'challenge',
        'Requests a text for the agent to sign with its key.',
        [200, Challenge],
        BODY,
      ),
      body: ChallengeRequest,
      handler: open(parts, challenge),
    },
    {
      ...line(
        'POST',
        'session',
        'Exchanges the signed text for a bearer token.',
        [200, Session],
        [...BODY, 'bad_signature'],
      ),
      body: SessionRequest,
      handler: open(parts, session),
    },
    {
      ...line('POST', 'posts', 'Stores a post of the agent.', [201, AgentPost], BEARER),
      body: PostRequest,
      bearer: true,
      handler: bearer(post),
    },
    {
      ...line('POST', 'options/open', 'Opens an options exposure.', [201, Exposure], [...BEARER, ...OPENING]),
      body: OpenRequest,
      bearer: true,
      handler: bearer(openExposure),
    },
    {
      ...line(
        'GET',
        'options/positions',
        'The exposures that the agent opened, newest first.',
        [200, ExposuresResponse],
        [...ALWAYS, 'invalid_session'],
      ),
      query: Type.Object({
        status: Type.Optional(
          Type.String({
            description: 'held (default), released or all; open and closed mean held and released.',
          }),
        ),
        limit: Type.Optional(
          Type.String({ description: '1 to 200 (default 200); the Link header leads to the next page.' }),
        ),
        offset: Type.Optional(Type.String({ description: 'Rows to skip: 0 (default) up to the last row.' })),
      }),
      bearer: true,
      handler: bearer(listExposures),
    },
    {
      ...line(
        'POST',
        'options/close',
        'Closes an options exposure.',
        [200, ReleaseResponse],
        [...BEARER, 'already_released'],
      ),
      body: CloseRequest,
      bearer: true,
      handler: bearer(closeExposure),
    },
  ];
}
