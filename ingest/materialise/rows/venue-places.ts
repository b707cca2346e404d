import { createLru } from '../../../runtime/lru.ts';

/** Where a venue account of a policy is. */
export interface VenuePlaceRow {
  policy: string;
  address: string;
}

/** Its row; of a closed account nothing says whose it was. */
interface VenueState {
  address: string;
  policy?: string;
}

/** Venue accounts whose place is remembered: of more a row is written that says nothing new. */
const MOST_REMEMBERED = 200_000;

/** The places of venue accounts, each told once by this process as long as it remembers. */
export interface VenuePlaces {
  /** Rows that are not written yet. */
  rowsOf(states: readonly VenueState[]): VenuePlaceRow[];
  /** They are written. */
  wrote(rows: readonly VenuePlaceRow[]): void;
}

export function createVenuePlaces(): VenuePlaces {
  const written = createLru<string>(MOST_REMEMBERED);
  return {
    rowsOf: (states) =>
      states.flatMap(({ address, policy }) =>
        policy === undefined || written.get(address) === policy ? [] : [{ policy, address }],
      ),
    wrote: (rows) => {
      for (const { policy, address } of rows) written.set(address, policy);
    },
  };
}
