import type { Db } from '../postgres/port.ts';
import { type ChainOptions, createChainReader } from './chain.ts';
import type { AgentParts } from './deps.ts';
import { attemptCounter } from './limits.ts';
import { nonceKeyOf } from './nonce.ts';
import { createQueue } from './queue.ts';
import { Refusal } from './refusal.ts';
import { createOptionsVenue, type VenueOptions } from './venue.ts';

export interface AgentOptions extends ChainOptions {
  db: Db;
  serviceName: string;
  publicUrl: string;
  optionsVenueId: string;
  venue: VenueOptions | null;
}

const TURN_WAIT_MS = 15_000;

/** Puts together what the agent routes work with; nothing is asked of anybody yet. */
export function createAgentParts(options: AgentOptions): AgentParts {
  const { db, rpc, programId, storedSlot, serviceName, publicUrl, optionsVenueId, venue } = options;
  return {
    db,
    serviceName,
    publicUrl,
    optionsVenueId,
    chain: createChainReader({ rpc, programId, storedSlot }),
    venue: venue === null ? null : createOptionsVenue(venue),
    nonceKey: nonceKeyOf(db),
    countAttempt: attemptCounter(db, Date.now),
    inTurn: createQueue(
      TURN_WAIT_MS,
      () => new Refusal('venue_unreachable', 'too many requests of this policy wait for the options venue'),
    ),
  };
}
