import { classBitOf, REMOTE_VENUE_NAMES } from '../../schemas/venues/remote.ts';

/** The first two policies of a world have agents that nobody replaces. */

/** A person may play this one's agent: its key is given away, and it says nothing by itself. */
export const RESIDENT = 0;
/** This one's agent tells what it does while one looks. */
export const SPEAKER = 1;

export const isCast = (number: number) => number === RESIDENT || number === SPEAKER;

/** Both may trade everything. */
export const CAST_ORIGIN = 2;
/** Enough to register accounts of any class. */
export const CAST_RISK = 90;
/** Both begin with an account at each venue, and keep it. */
export const CAST_CLASSES: readonly number[] = REMOTE_VENUE_NAMES.map(classBitOf);
