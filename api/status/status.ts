import type { Store } from '../../clickhouse/client.ts';
import { protocolConfig } from '../../clickhouse/queries/protocol-config.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { timeOf } from '../../schemas/units.ts';
import { CONFIG_SOURCE } from '../figures/sources.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { ReadDeps } from '../latest/read-deps.ts';
import { attestor } from './attestor.ts';
import { indexer } from './indexer.ts';
import { keeper } from './keeper.ts';
import { venues } from './venues.ts';

/** `GET /status` */
export async function status(deps: ReadDeps, now: number): Promise<StatusResponse> {
  const store = deps.currentStore();
  return deps.index.readAsOne(store, (state) => statusIn(state, store, deps, now));
}

async function statusIn(
  state: IndexState,
  store: Store,
  deps: ReadDeps,
  now: number,
): Promise<StatusResponse> {
  const config = await protocolConfig(store);
  const [indexerPart, keeperPart, attestorPart, venuesPart] = await Promise.all([
    indexer(store, state),
    keeper(store, state, now),
    attestor(store, deps.settings, now),
    venues(store, deps.settings, config, now),
  ]);
  return {
    protocol: {
      paused: config === null ? null : config.paused === 1,
      source: CONFIG_SOURCE,
      asOf: timeOf(config?.block_time ?? null),
    },
    indexer: indexerPart,
    keeper: keeperPart,
    attestor: attestorPart,
    venues: venuesPart,
  };
}
