import { AGENT, type Key } from '../program/state/state.ts';
import { agentKeypair, type Keypair } from './agent-keys.ts';
import { profileOf } from './profile.ts';
import { originMask } from './setup.ts';

/** The policy whose agent a person may play: its key is given away, and nobody rotates it. */
export interface Resident {
  mint: Key;
  keypair: Keypair;
}

const OPTION = 32;
/** One policy in four is such a one. */
const LOOKED_AT = 200;

/** The first policy of the seed that is run by an agent and may hold options. */
export function residentOf(seed: string): Resident {
  for (let number = 0; number < LOOKED_AT; number += 1) {
    const { mint, init } = profileOf(seed, number, '');
    if (init.mode === AGENT && (originMask(init.originId) & OPTION) !== 0)
      return { mint, keypair: agentKeypair(seed, mint) };
  }
  throw new RangeError(
    `seed ${seed}: none of its first ${LOOKED_AT} policies has an agent and trades options`,
  );
}
