import type { IncompleteState } from '../../clickhouse/queries/progress/index-state.ts';
import type { ModelRow, OriginRow } from '../../clickhouse/queries/states/registries.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { dayReason } from '../figures/missing.ts';
import { type Quote, quoteAt } from '../figures/quotes.ts';
import type { View } from '../latest/view.ts';

/** What the rows of one quote asset have in common; the same object as long as its content is the same. */
export interface RowContext {
  historyReason: string | null;
  incomplete: IncompleteState;
  /** Why figures of the last 24 hours are absent. */
  dayReason: string | null;
  quote: Quote;
  origins: readonly OriginRow[];
  models: readonly ModelRow[];
}

/** Got from the view once for all the rows of a page. */
export function rowContexts(view: View, settings: ReadSettings): (quoteMint: string) => RowContext {
  const known = new Map<string, RowContext>();
  return (quoteMint) => {
    const context = known.get(quoteMint) ?? contextOfQuote(view, settings, quoteMint);
    known.set(quoteMint, context);
    return context;
  };
}

/** @param settings the same for every view */
function contextOfQuote(view: View, settings: ReadSettings, quoteMint: string): RowContext {
  return view.part(`context ${quoteMint}`, () => {
    const { historyReason, incomplete } = view.state();
    return {
      ...{ historyReason, incomplete, dayReason: dayReason(view) },
      quote: quoteAt(view, settings, quoteMint),
      origins: view.single('origins'),
      models: view.single('models'),
    };
  });
}
