import { setTimeout as pause } from 'node:timers/promises';
import type { TestKey } from '../../test/api/agent/support/keys.ts';
import type { Answer, Send } from '../support/http-load.ts';

export interface Poster {
  mint: string;
  key: TestKey;
  /** Its client address, as a proxy would forward it. */
  from: string;
}

export interface Posted {
  /** Time of every request, in milliseconds. */
  took: number[];
  /** When each accepted post was stored, by the database's clock, in unix milliseconds. */
  stored: number[];
  /** Rightful refusals: 429 while 20 posts were less than a minute old. */
  due: number;
  /** All other refusals: status and body. */
  undue: string[];
}

type Sender = (url: string, send: Send) => Promise<Answer>;

const A_MINUTE = 60_000;
const A_MINUTE_HOLDS = 20;
const json = { 'content-type': 'application/json' };

/** Signs in. @returns a bearer token */
export async function signIn(send: Sender, url: string, { mint, key, from }: Poster): Promise<string> {
  const ask = async (route: string, fields: object) => {
    const headers = { ...json, 'x-forwarded-for': from };
    const body = JSON.stringify({ mint, agent: key.address, ...fields });
    const { status, text } = await send(`${url}/api/agent/${route}`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`${route} answered ${status}: ${text}`);
    return JSON.parse(text) as { nonce: string; message: string; token: string };
  };
  const { nonce, message } = await ask('challenge', {});
  return (await ask('session', { nonce, signature: key.sign(message).toString('base64') })).token;
}

/** Posts every three seconds, which is the limit, and notes whether each refusal was due. */
export async function postAtLimit(
  send: Sender,
  url: string,
  token: string,
  { from, number, until }: { from: string; number: number; until: number },
): Promise<Posted> {
  const posted: Posted = { took: [], stored: [], due: 0, undue: [] };
  const headers = { ...json, 'x-forwarded-for': from, authorization: `Bearer ${token}` };
  const paceMs = A_MINUTE / A_MINUTE_HOLDS;
  // Agents start at different moments: all posts at once would be a burst and not a steady load.
  let next = performance.now() + (paceMs * number) / 50;
  for (let n = 0; next < until; n += 1, next = Math.max(next + paceMs, performance.now())) {
    await pause(Math.max(0, next - performance.now()));
    const sentAt = Date.now();
    const body = JSON.stringify({ kind: 'update', text: `${number}.${n} the book is thin, waiting` });
    const { status, text, ms } = await send(`${url}/api/agent/posts`, { method: 'POST', headers, body });
    posted.took.push(ms);
    const recent = posted.stored.filter((at) => at > sentAt - A_MINUTE).length;
    if (status === 201) posted.stored.push(Date.parse((JSON.parse(text) as { createdAt: string }).createdAt));
    else if (status === 429 && recent >= A_MINUTE_HOLDS) posted.due += 1;
    else posted.undue.push(`${status} ${text}`.slice(0, 200));
  }
  return posted;
}

/** The most posts that were stored in any 60 seconds; the limit is 20. */
export function mostInAMinute(stored: readonly number[]): number {
  return Math.max(
    0,
    ...stored.map((at) => stored.filter((other) => other >= at && other < at + A_MINUTE).length),
  );
}
