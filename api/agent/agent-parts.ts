import type { Db } from '../postgres/port.ts';
import type { ChainReader } from './chain/chain.ts';
import type { CountAttempt } from './limits/limits.ts';
import type { Queue } from './limits/queue.ts';
import type { RequestBudget } from './limits/request-budget.ts';
import type { Admit } from './limits/suspects.ts';
import type { OptionsVenue } from './options/venue.ts';

/** What the agent routes work with. */
export interface AgentParts {
  db: Db;
  chain: ChainReader;
  /** Null where OPTIONS_VENUE_URL is not set. */
  venue: OptionsVenue | null;
  /** SERVICE_NAME and PUBLIC_URL, as they stand in a challenge. */
  serviceName: string;
  publicUrl: string;
  optionsVenueId: string;
  nonceKey(): Promise<Uint8Array>;
  countAttempt: CountAttempt;
  /** To be awaited before anything is looked up for a client that has not authenticated. */
  admit: Admit;
  budget: RequestBudget;
  /**
   * Runs work of one name, such as a policy's writes, in turn: of identical requests only the first asks the venue, and
   * none holds a connection while it waits.
   */
  inTurn: Queue;
}
