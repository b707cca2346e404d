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
  /** A process beside it that waits for nobody: for nodes and venues that hang. */
  impatient: AgentApi;
  /** A new policy of a new mint, whose agent is a new key. */
  policy(changes?: { mode?: number; originId?: number; modelId?: number }): { mint: string; agent: TestKey };
}

/** Long enough for what does answer, on a loaded machine too. */
const IMPATIENT_MS = 3_000;

let minted = 0;

/** Everything an agent meets, over one engine, for the tests of one block. */
export function useAgentStage(engine: Engine): AgentStage {
  const stage = {} as AgentStage;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const { db, close } = await freshDb(engine);
    const [rpc, venue] = await Promise.all([startFakeRpc(), startFakeVenue()]);
    const api = await startAgentApi({ db, rpc, venueUrl: venue.url });
    const impatient = await startAgentApi({ db, rpc, venueUrl: venue.url, timeoutMs: IMPATIENT_MS });
    Object.assign(stage, { db, rpc, venue, api, impatient });
    ends.push(api.close, impatient.close, rpc.close, venue.close, close);
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
