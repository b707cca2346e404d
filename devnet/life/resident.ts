import type { Key } from '../program/state/state.ts';
import { agentKeypair, type Keypair } from './agent-keys.ts';
import { RESIDENT } from './cast.ts';
import { launchMint } from './profile.ts';

/** The policy whose agent a person may play: its key is handed out, and never rotated. */
export interface Resident {
  mint: Key;
  keypair: Keypair;
}

export function residentOf(seed: string): Resident {
  const mint = launchMint(seed, RESIDENT);
  return { mint, keypair: agentKeypair(seed, mint) };
}
