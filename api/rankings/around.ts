import type { ModelRow, OriginRow } from '../../clickhouse/queries/states/registries.ts';
import { dayReason } from '../figures/missing.ts';
import { type Quote, quoteAt } from '../figures/quotes.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { View } from '../latest/view.ts';

/** What rows of a ranking have in common, got from the view once for all that are made of it. */
export interface Around {
  state: IndexState;
  /** Why figures of the last 24 hours are absent. */
  dayReason: string | null;
  quote(mint: string): Quote;
  origins: readonly OriginRow[];
  models: readonly ModelRow[];
}

export function aroundOf(view: View, launchpadVenueId: string): Around {
  const quotes = new Map<string, Quote>();
  return {
    state: view.state(),
    dayReason: dayReason(view),
    quote: (mint) => {
      const quote = quotes.get(mint) ?? quoteAt(view, launchpadVenueId, mint);
      quotes.set(mint, quote);
      return quote;
    },
    origins: view.one('origins'),
    models: view.one('models'),
  };
}
