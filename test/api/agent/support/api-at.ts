import { Value } from 'typebox/value';
import { expect } from 'vitest';
import type { AgentParts } from '../../../../api/agent/agent-parts.ts';
import { agentRoutes } from '../../../../api/agent/routes.ts';
import type { TestKey } from './keys.ts';

export interface Reply {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
  text: string;
}

/** The agents' routes of a service at some address; every answer is checked against what its route declares. */
export interface ApiAt {
  url: string;
  call(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
    from?: string,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  challenge(mint: string, agent: string, from?: string): Promise<Reply>;
  /** A token for the key, by challenge and signature. */
  login(mint: string, key: TestKey): Promise<string>;
}

let addresses = 0;
/** A client address that was not used before, for tests that are not about limits by address. */
export function freshAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** Only the routes' schemas are used, so their parts may be empty. */
const ROUTES = agentRoutes({} as AgentParts);

function checkDeclared(path: string, { status, body, text }: Reply): void {
  const route = ROUTES.find((known) => known.path === `/api/agent/${path.split('?')[0]}`);
  const schema = route?.responses[status];
  if (schema !== undefined && !Value.Check(schema, body))
    expect(Value.Errors(schema, body), text).toEqual([]);
  if (status !== 500) expect(schema, `${path} answered ${status}: ${text}`).toBeDefined();
}

export function apiAt(url: string): ApiAt {
  const call: ApiAt['call'] = async (method, path, body, token, from = freshAddress(), headers = {}) => {
    const response = await fetch(`${url}/api/agent/${path}`, {
      method,
      headers: {
        'x-forwarded-for': from,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = JSON.parse(text) as Record<string, unknown>;
    const reply = { status: response.status, headers: response.headers, text, body: parsed };
    checkDeclared(path, reply);
    return reply;
  };
  const challenge: ApiAt['challenge'] = (mint, agent, from) =>
    call('POST', 'challenge', { mint, agent }, undefined, from);
  return {
    url,
    call,
    challenge,
    login: async (mint, key) => {
      const { body } = await challenge(mint, key.address);
      const signature = key.sign(String(body.message)).toString('base64');
      const request = { mint, agent: key.address, nonce: body.nonce, signature };
      const session = await call('POST', 'session', request);
      expect(session.status, session.text).toBe(200);
      return String(session.body.token);
    },
  };
}
