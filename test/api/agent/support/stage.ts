import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Db } from '../../../../api/postgres/port.ts';
import { type AgentApi, startAgentApi } from './agent-api.ts';
import { type FakeRpc, startFakeRpc } from './fake-rpc.ts';
import { type FakeVenue, startFakeVenue } from './fake-venue.ts';
import { type TestKey, testKey } from './keys.ts';
import { type Engine, freshDb } from './postgres.ts';

export interface AgentStage {
  db: Db;
  rpc: FakeRpc;
  venue: FakeVenue;
  api: AgentApi;
  /** APIs beside it with a short timeout for the node, or for the venue: for tests in which that one hangs. */
  impatient: { ofNode: AgentApi; ofVenue: AgentApi };
  /** A new policy of a new mint, whose agent is a new key. */
  policy(changes?: { mode?: number; originId?: number; modelId?: number }): { mint: string; agent: TestKey };
}

/** Timeout for what hangs only; the other one is waited for as long as it takes. */
const IMPATIENT_MS = 3_000;

let minted = 0;

/** The API with its node and venue over one engine, for the tests of one block. */
export function useAgentStage(engine: Engine): AgentStage {
  const stage = {} as AgentStage;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const { db, close } = await freshDb(engine);
    const [rpc, venue] = await Promise.all([startFakeRpc(), startFakeVenue()]);
    const api = await startAgentApi({ db, rpc, venueUrl: venue.url });
    const impatient = {
      ofNode: await startAgentApi({ db, rpc, venueUrl: venue.url, nodeMs: IMPATIENT_MS }),
      ofVenue: await startAgentApi({ db, rpc, venueUrl: venue.url, venueMs: IMPATIENT_MS }),
    };
    Object.assign(stage, { db, rpc, venue, api, impatient });
    ends.push(api.close, impatient.ofNode.close, impatient.ofVenue.close, rpc.close, venue.close, close);
    stage.policy = (changes = {}) => {
      minted += 1;
      const mint = testKey(`mint ${minted}`).address;
      const agent = testKey(`agent ${minted}`);
      rpc.policy({ mint, agent: agent.address, ...changes });
      return { mint, agent };
    };
  });
  beforeEach(() => {
    stage.venue.reset();
    stage.rpc.fault = null;
    stage.rpc.slot = 1000;
    stage.api.storedSlot = 0n;
    stage.api.index = 'up';
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return stage;
}
