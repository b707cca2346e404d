import type { StatusResponse } from '../../schemas/responses/status.ts';
import { timeOf } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { CONFIG_SOURCE } from '../figures/sources.ts';
import type { View } from '../latest/view.ts';
import { attestor } from './attestor.ts';
import { indexer } from './indexer.ts';
import { keeper } from './keeper.ts';
import { venues } from './venues.ts';

/** `GET /status` */
export function status(view: View, settings: ReadSettings): StatusResponse {
  const config = view.single('config');
  return {
    protocol: {
      paused: config === null ? null : config.paused === 1,
      source: CONFIG_SOURCE,
      asOf: timeOf(config?.block_time ?? null),
    },
    indexer: indexer(view),
    keeper: keeper(view),
    attestor: attestor(view, settings),
    venues: venues(view, settings, config),
  };
}
