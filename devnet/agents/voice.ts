import type { Keypair } from '../life/agent-keys.ts';
import type { Key } from '../program/state/state.ts';

/** An agent as a client of the agents' routes, like any real one: it proves its key, then writes under its session. */
export interface Voice {
  /** Whether it holds a session that the service has not refused yet. */
  signedIn(): boolean;
  /** The answer to a write; null where it was refused or no answer came. Nothing is retried. */
  write(path: string, body: unknown): Promise<Record<string, unknown> | null>;
  read(path: string): Promise<Record<string, unknown> | null>;
}

const TIMEOUT_MS = 15_000;

/** Where the service is reached, and how it names itself: no challenge that names another service is signed. */
export interface Service {
  api: string;
  publicUrl: string;
}

export function createVoice(
  { api, publicUrl }: Service,
  mint: Key,
  keypair: Keypair,
  stopped: AbortSignal,
): Voice {
  let token: string | null = null;

  async function ask(method: 'GET' | 'POST', path: string, body?: unknown) {
    const answer = await fetch(`${api}${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch(() => null);
    if (answer === null) return { status: 0, said: null };
    const said = (await answer.json().catch(() => null)) as Record<string, unknown> | null;
    return { status: answer.status, said };
  }

  async function signIn(): Promise<boolean> {
    token = null;
    const who = { mint, agent: keypair.key };
    const { said: challenge } = await ask('POST', '/api/agent/challenge', who);
    if (typeof challenge?.nonce !== 'string' || typeof challenge.message !== 'string') return false;
    if (challenge.message.split('\n')[1] !== `URL: ${publicUrl}`) return false;
    const signature = Buffer.from(keypair.sign(Buffer.from(challenge.message))).toString('base64');
    const proof = { ...who, nonce: challenge.nonce, signature };
    const { said: session } = await ask('POST', '/api/agent/session', proof);
    token = typeof session?.token === 'string' ? session.token : null;
    return token !== null;
  }

  async function exchange(method: 'GET' | 'POST', path: string, body?: unknown) {
    if (token === null && !(await signIn())) return null;
    const { status, said } = await ask(method, path, body);
    // The session is over, or the key is no longer the agent's.
    if (status === 401 || status === 403) token = null;
    return status === 200 || status === 201 ? said : null;
  }

  return {
    signedIn: () => token !== null,
    write: (path, body) => exchange('POST', `/api/agent/${path}`, body),
    read: (path) => exchange('GET', path),
  };
}
