import { createLru } from '../../../runtime/lru.ts';

/** Where a venue account of a policy is. */
export interface VenuePlaceRow {
  policy: string;
  address: string;
}

/** The row of a venue account; that of a closed one does not say whose it was. */
interface VenueState {
  address: string;
  policy?: string;
}

/** Venue accounts whose place is remembered; beyond that, rows are written that say nothing new. */
const MOST_REMEMBERED = 200_000;

/** The places of venue accounts, each written once by this process as long as it remembers. */
export interface VenuePlaces {
  /** Rows that are not written yet. */
  rowsOf(states: readonly VenueState[]): VenuePlaceRow[];
  /** Notes that these rows are written. */
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
