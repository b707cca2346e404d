import type { Client } from './client.ts';
import type { Signer } from './key.ts';
import { checkMessage } from './message.ts';

export interface LoginOptions {
  client: Client;
  signer: Signer;
  mint: string;
  publicUrl: string;
  service: string | null;
  clock(): number;
}

export interface Login {
  token: string;
  /** Unix milliseconds. */
  expiresAt: number;
  /** What to add to our clock to have the service's. */
  clockOffsetMs: number;
}

/**
 * A session for the key. The message is signed only after it was checked line by line; the secret is never sent.
 * @throws UnsafeMessageError, ApiError, NoAnswerError
 */
export async function login({
  client,
  signer,
  mint,
  publicUrl,
  service,
  clock,
}: LoginOptions): Promise<Login> {
  const agent = signer.address;
  const { nonce, message } = await client.challenge({ mint, agent });
  const now = clock();
  const issued = checkMessage(message, { publicUrl, mint, agent, nonce, service, now });
  const signature = Buffer.from(signer.sign(Buffer.from(message))).toString('base64');
  const { token, expiresAt } = await client.session({ mint, agent, nonce, signature });
  return { token, expiresAt: Date.parse(expiresAt), clockOffsetMs: issued - now };
}
