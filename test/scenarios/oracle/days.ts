import { between, figure, iso, text } from './expected.ts';
import { ofKind, type PlacedEvent, total, type View } from './view.ts';

const dayOf = ({ blockTime }: PlacedEvent) => iso(blockTime).slice(0, 10);

/** Sums of a day's events; one is as old as its newest event, or a newer event of the same day. */
function sums(view: View, events: readonly PlacedEvent[]): object {
  const sum = (kind: PlacedEvent['kind'], field: string) => {
    const own = ofKind(events, kind);
    const from = own.at(-1)?.blockTime ?? 0;
    return figure(total(own, field), text, between(from, events.at(-1)?.blockTime ?? view.now));
  };
  return {
    routedToLp: sum('Routed', 'toLp'),
    routedToBankroll: sum('Routed', 'toBankroll'),
    protocolCut: sum('Routed', 'protocolCut'),
    profitSwept: sum('ProfitSwept', 'profit'),
    spentOnBuybacks: sum('BuybackBurned', 'spent'),
  };
}

/** `revenueByDayTimeSeries`: a UTC day that has an event, oldest first; per quote mint in the order of mints. */
export function days(view: View): object[] {
  return [...Map.groupBy(view.events, dayOf)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, events]) => ({
      day,
      ...sums(view, events),
      byQuote: [...Map.groupBy(events, ({ fields }) => (fields.quoteMint as string | undefined) ?? '')]
        .filter(([quoteMint]) => quoteMint !== '')
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([quoteMint, own]) => ({
          quoteMint,
          decimals: view.state.mints.get(quoteMint)?.decimals,
          ...sums(view, own),
        })),
    }));
}
