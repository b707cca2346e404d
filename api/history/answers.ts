import { coinFinder, noCoin } from '../coin/find.ts';
import type { ReadDeps } from '../deps/read-deps.ts';
import { nextSecond } from '../figures/times.ts';
import type { RouteReply, SharedContext } from '../http/route.ts';
import type { View } from '../latest/view.ts';
import { coinHistory } from './coin.ts';
import { protocolHistory } from './protocol/protocol.ts';
import { type Range, readRange } from './range.ts';

type Answer = (context: SharedContext, view: View) => RouteReply;

/** Answers `GET /coins/:mint/history`: 404 for a mint without an indexed policy, 400 for a range that is not valid. */
export function coinHistoryAnswer(deps: ReadDeps): Answer {
  const find = coinFinder(deps);
  return (context, view) => {
    const coin = find(context, view);
    if (coin === null) return noCoin(context.params.mint);
    return inRange(context, view, (range) => ({ status: 200, body: coinHistory(coin, range) }));
  };
}

/** Answers `GET /analytics/history`. */
export const protocolHistoryAnswer =
  ({ settings }: ReadDeps): Answer =>
  (context, view) =>
    inRange(context, view, (range) => protocolHistory(view, settings, range));

function inRange({ query }: SharedContext, view: View, answer: (range: Range) => RouteReply): RouteReply {
  const range = readRange(query, view.now);
  if (range.isOfNow) view.expireAt(nextSecond(view.now));
  return 'error' in range ? { status: 400, body: { error: range.error } } : answer(range);
}
