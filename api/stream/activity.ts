import { asideOf, type Store } from '../../clickhouse/client.ts';
import { WINDOW_SLOTS } from '../../clickhouse/progress-tables.ts';
import {
  type EventIdentity,
  eventIdentities,
  eventsOfSlots,
  type FullEventRow,
  hasManyEvents,
} from '../../clickhouse/queries/activity/stream-events.ts';
import { itemOf } from '../coin/activity.ts';
import type { Latest } from '../latest/latest.ts';
import type { Memo } from '../latest/memos/memo.ts';
import type { View } from '../latest/view.ts';
import {
  createEventWindow,
  type EventWindow,
  type Fresh,
  identityOf,
  missedSince,
  type TakenBack,
} from './event-window.ts';
import { createGapReminders, takenBackAt } from './gap-reminders.ts';
import type { ChainPosition, LateArrivals } from './position.ts';

/** An event, the position of a client that has it, and the mint it is of. */
export interface ChainEvent {
  identity: string;
  position: ChainPosition;
  mint: string;
  kind: string;
  data: unknown;
}

/** What is new: an event, or that some of the events sent before are void. */
export type ChainNews = ChainEvent | TakenBack;

export interface ActivityNews<Told = ChainEvent> {
  /** In the order in which they are to be sent. */
  events: Told[];
  /** Why they are not all that is new; null where they are. */
  gap: string | null;
}

/** More new events at once than this are not sent one by one. */
const MOST_AT_ONCE = 2_000;
/** Identities that are read of the last slots; where there are more, their events are not sent one by one either. */
const MOST_RECENT = 20_000;
/** What one client may have missed and still be sent event by event. */
const MOST_MISSED = 1_000;
/**
 * At most this often are clients told that events came late: a process that reads history again brings them for hours.
 */
const LATE_EVERY_MS = 10_000;
const CAME_LATE = 'events came late, in slots that were told already';

const NOWHERE: ChainPosition = { slot: 0n, ordinal: 0, recent: 0, derived: 0, closedGaps: 0, late: 0 };
const NOTHING: ActivityNews = { events: [], gap: null };

export interface ActivityFeed {
  /** Begins with what is in the store now: nothing of it is news. */
  begin(): Promise<void>;
  /** The position up to which everything was sent. */
  tip(): ChainPosition;
  /** What is new in the store since the last call. */
  news(): Promise<ActivityNews<ChainNews>>;
  /** What a client missed up to the position given; a reason where that cannot be sent event by event. */
  missed(since: ChainPosition, until: ChainPosition, mint: string | null): Promise<ActivityNews>;
}

/** The events of all policies as whole slots of them are applied: two queries a marker, for all clients. */
export function createActivityFeed(latest: Latest, now = () => performance.now()): ActivityFeed {
  let at: { store: Store; window: EventWindow; made: Memo<IndexPosition>; since: number } | null = null;
  const reminders = createGapReminders();
  let lateToldAt = Number.NEGATIVE_INFINITY;
  const mayTellLate = () => now() - lateToldAt >= LATE_EVERY_MS;
  // Connections of their own: neither memory nor pages wait for streams, nor the news for what a client has missed.
  const currentStore = () => asideOf(latest.currentStore(), 'streams', 1);
  const missedStore = () => asideOf(latest.currentStore(), 'missed events', 1);

  const begin = async (store: Store): Promise<void> => {
    // Read first: memory that was not read for a while does not know whether it still holds.
    const made = await latest.read(indexPosition);
    // Nothing was applied since: a client that comes and goes causes no new queries.
    if (at !== null && at.store === store && latest.stillHolds(at.made)) return;
    const { slot } = made.value;
    const from = slot > WINDOW_SLOTS ? slot - WINDOW_SLOTS : 0n;
    const window = createEventWindow(slot, made.value, await eventIdentities(store, from, slot, MOST_RECENT));
    at = { store, window, made, since: now() };
  };

  return {
    begin: () => begin(currentStore()),
    tip: () => at?.window.tip() ?? NOWHERE,
    news: async () => {
      const store = currentStore();
      if (at === null) {
        await begin(store);
        return NOTHING;
      }
      const tip = at.window.tip();
      const waits = at.made.value.late !== tip.late;
      if (at.store === store && latest.stillHolds(at.made) && !(waits && mayTellLate())) {
        const again = takenBackAt(reminders.dueAtStandstill(now() - at.since), tip);
        reminders.remindedAtStandstill(again);
        return again.length === 0 ? NOTHING : { events: again, gap: null };
      }
      const made = await latest.read(indexPosition);
      const { slot, closedGaps } = made.value;
      // Until clients are told of what came late, their positions are from before it. A gap sent anyway tells of it.
      const late = mayTellLate() || closedGaps !== tip.closedGaps ? made.value.late : tip.late;
      if (at.store !== store && slot < tip.slot) {
        await begin(store);
        return { events: [], gap: 'another database serves now, and it is behind this position' };
      }
      if (slot < tip.slot) return NOTHING;
      const identities = await eventIdentities(store, at.window.readFrom(), slot, MOST_RECENT);
      if (identities.length === MOST_RECENT) {
        await begin(store);
        return { events: [], gap: 'too much happened at once' };
      }
      const { window, takenBack, fresh } = at.window.movedTo(slot, { closedGaps, late }, identities);
      // Behind all else: a client that has it is at the tip.
      const again = takenBackAt(reminders.dueAt(made.value, now()), window.tip());
      const isTooMuch = takenBack.length + fresh.length + again.length > MOST_AT_ONCE;
      const events = isTooMuch ? [] : [...takenBack, ...(await read(store, fresh, identities)), ...again];
      // Not before the events are read: if that fails, they are news the next time.
      at = { store, window, made, since: now() };
      reminders.reminded(again);
      reminders.noteSent(takenBack, now());
      if (late !== tip.late) lateToldAt = now();
      if (isTooMuch) return { events, gap: 'too much happened at once' };
      return { events, gap: unsentReason(tip, { closedGaps, late }) };
    },
    missed: async (since, until, mint) => {
      const store = missedStore();
      if (since.slot > until.slot) return { events: [], gap: 'the position is not known here' };
      const gap = unsentReason(since, until);
      if (gap !== null) return { events: [], gap };
      const from = since.slot > WINDOW_SLOTS ? since.slot - WINDOW_SLOTS : 0n;
      // A client says itself how far back it is: what reading from there would cost is looked at first.
      if (await hasManyEvents(store, from, until.slot, MOST_RECENT))
        return { events: [], gap: 'the position is too old' };
      // Reads none beyond what may be sent, as long as the client has as many events of the last slots as it says.
      const most = mint === null ? Math.min(MOST_RECENT, since.recent + MOST_MISSED + 1) : MOST_RECENT;
      const identities = await eventIdentities(store, from, until.slot, most);
      if (identities.length === MOST_RECENT) return { events: [], gap: 'the position is too old' };
      if (identities.length === most)
        return { events: [], gap: `more than ${MOST_MISSED} events were missed` };
      const all = missedSince(since, until, identities);
      if (all === null) return { events: [], gap: CAME_LATE };
      const mine = mint === null ? all : mineOf(all, identities, mint);
      if (mine.length > MOST_MISSED)
        return { events: [], gap: `more than ${MOST_MISSED} events were missed` };
      return { events: await read(store, mine, identities), gap: null };
    },
  };
}

interface IndexPosition extends LateArrivals {
  slot: bigint;
  /** The slot of the partition that is furthest. */
  highest: bigint;
}

/** How far the index is, and how often something was filled in behind that. */
function indexPosition(view: View): IndexPosition {
  const { applied, gaps, openGaps } = view.state();
  const closedGaps = gaps.length - openGaps.length;
  const [slot, highest] = [BigInt(applied.slot), BigInt(applied.highest_slot)];
  return { slot, highest, closedGaps, late: applied.late_batches };
}

/** Why what was filled in since is not sent event by event; null where nothing was. */
function unsentReason(since: LateArrivals, until: LateArrivals): string | null {
  if (since.closedGaps !== until.closedGaps) return 'a gap of history was closed: its events are in the list';
  return since.late === until.late ? null : CAME_LATE;
}

function mineOf(fresh: readonly Fresh[], identities: readonly EventIdentity[], mint: string): Fresh[] {
  const mine = new Set(identities.filter((row) => row.mint === mint).map(identityOf));
  return fresh.filter(({ identity }) => mine.has(identity));
}

async function read(
  store: Store,
  fresh: readonly Fresh[],
  identities: readonly EventIdentity[],
): Promise<ChainEvent[]> {
  if (fresh.length === 0) return [];
  const wanted = new Set(fresh.map(({ identity }) => identity));
  const rows = identities.filter((row) => wanted.has(identityOf(row)));
  const first = BigInt(rows[0]?.slot ?? 0);
  const last = BigInt(rows.at(-1)?.slot ?? 0);
  const mints = [...new Set(rows.map((row) => row.mint))];
  const full = new Map(
    (await eventsOfSlots(store, mints, first, last, MOST_RECENT)).map((row) => [identityOf(row), row]),
  );
  return fresh.flatMap(({ identity, position }) => {
    const row = full.get(identity);
    return row === undefined
      ? []
      : [{ identity, position, mint: row.mint, kind: row.kind, data: dataOf(row) }];
  });
}

const dataOf = (row: FullEventRow) => ({ mint: row.mint, ...itemOf(row) });
