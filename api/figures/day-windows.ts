import {
  type ClaimsOfDay,
  claimsAt,
  type DayWindow,
  type EventsOfDay,
  eventsAt,
} from '../../clickhouse/queries/ranking/day-windows.ts';
import type { View } from '../latest/view.ts';

/** Events of a mint in the last 24 hours. */
export const eventsOfDay = (view: View, mint: string): EventsOfDay =>
  told(view, eventsAt(view.get('eventsOfDay', mint), seconds(view)));

/** Fee claims of a mint in the last 24 hours. */
export const claimsOfDay = (view: View, mint: string): ClaimsOfDay =>
  told(view, claimsAt(view.get('claimsOfDay', mint), seconds(view)));

const seconds = (view: View): number => Math.floor(view.now / 1000);

function told<Row>(view: View, { row, until }: DayWindow<Row>): Row {
  view.expireAt(until * 1000);
  return row;
}
