import type { Db } from '../postgres/port.ts';
import type { AgentParts } from './agent-parts.ts';
import { type ChainOptions, createChainReader } from './chain/chain.ts';
import { attemptCounter, failedOf } from './limits/limits.ts';
import { createQueue } from './limits/queue.ts';
import { createRequestBudget } from './limits/request-budget.ts';
import { createSuspects } from './limits/suspects.ts';
import { createOptionsVenue, type VenueOptions } from './options/venue.ts';
import { nonceKeyOf } from './session/nonce.ts';

export interface AgentOptions extends ChainOptions {
  db: Db;
  serviceName: string;
  publicUrl: string;
  optionsVenueId: string;
  venue: VenueOptions | null;
}

/** Puts together what the agent routes work with; asks no database, node or venue yet. */
export function createAgentParts(options: AgentOptions): AgentParts {
  const { db, serviceName, publicUrl, optionsVenueId, venue } = options;
  const inTurn = createQueue();
  const attempts = attemptCounter(db, inTurn, () => performance.now());
  return {
    db,
    inTurn,
    serviceName,
    publicUrl,
    optionsVenueId,
    chain: createChainReader(options),
    venue: venue === null ? null : createOptionsVenue(venue),
    nonceKey: nonceKeyOf(db),
    budget: createRequestBudget(),
    countAttempt: attempts.count,
    admit: createSuspects({ isSuspect: (address) => attempts.areUsedUp(failedOf(address)) }),
  };
}
