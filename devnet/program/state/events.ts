import type { EVENT_LAYOUTS, Fields } from './layouts.ts';

export type EventKind = keyof typeof EVENT_LAYOUTS;
/** An event as the program knows it: keys base58, u64 and i64 as bigint, narrower ones as number. */
export type TypedEvent = {
  [K in EventKind]: { kind: K; fields: Fields<(typeof EVENT_LAYOUTS)[K]> };
}[EventKind];
