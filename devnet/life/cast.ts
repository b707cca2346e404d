import { classBitOf, REMOTE_VENUE_NAMES } from '../../schemas/venues/remote.ts';

/** The first two policies of a world have agents that nobody replaces. */

/** A person may play this policy's agent: its key is handed out, and the local world posts nothing in its name. */
export const RESIDENT = 0;
/** The policy that visitors are shown: its agent posts often. */
export const SPEAKER = 1;

export const isCast = (number: number) => number === RESIDENT || number === SPEAKER;

/** Origin of both: it allows every asset class. */
export const CAST_ORIGIN = 2;
/** Risk of both: enough to register accounts of any class. */
export const CAST_RISK = 90;
/** Asset classes of the accounts that both have: one at each venue from the beginning, which they keep. */
export const CAST_CLASSES: readonly number[] = REMOTE_VENUE_NAMES.map(classBitOf);
