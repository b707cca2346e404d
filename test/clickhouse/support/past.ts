import type { CarriedRow } from '../../../clickhouse/hour-tables.ts';
import type { UnseenChange } from '../../../clickhouse/queries/history/closing-states.ts';
import type { StreamCover } from '../../../clickhouse/queries/history/stream-cover.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { HOUR_S } from '../../../schemas/units.ts';
import { policyRow } from '../../api/support/rows.ts';

export const FIRST_HOUR = 497_300;
export const HOURS = 24;
/** Few, so that several things happen in one slot. */
const SLOTS_AN_HOUR = 6;
const MOST = '18446744073709551615';

/** A row of `account_hours`, with the slot of its version. */
export interface StateRow {
  address: string;
  hour: number;
  slot: string;
  block_time: number | null;
  exists: 0 | 1;
  held_in: string;
  hwm: string;
  fees_claimed: string;
  profit_swept: string;
  venue_count: number;
  amount: string;
  policy: string;
  token_account: string;
  kind: string;
  revoked: 0 | 1;
  remote_equity: string;
  remote_asof: number;
}

/** The past of a few policies, with everything in it that may happen to one. */
export interface Past {
  /** By table, in the order in which they came. */
  inserts: [table: string, rows: object[]][];
  policies: { address: string; bankroll: string; quote_mint: string; created_at: number }[];
  /** Their closing states, by hour. */
  states: StateRow[];
  cover: StreamCover;
  unseen: UnseenChange[];
  carried: CarriedRow[];
}

const NOTHING = {
  ...{ hwm: '0', fees_claimed: '0', profit_swept: '0', venue_count: 0, amount: '0', policy: '' },
  ...{ token_account: '', kind: '', revoked: 0 as const, remote_equity: '0', remote_asof: 0 },
};

export function randomPast(seed: string): Past {
  const random = createRandom(seed);
  const number = () => (random.chance(0.1) ? MOST : String(random.int(0, 1_000_000)));
  const policies = ['a', 'b', 'c', 'd', 'e', 'closed'].map((mint, at) =>
    policyRow(mint, `quote ${at % 2}`, {
      exists: mint === 'closed' ? 0 : 1,
      created_at: FIRST_HOUR * HOUR_S + random.int(-9_000, 9_000),
    }),
  ) as unknown as (Past['policies'][number] & { exists: 0 | 1 })[];
  const rows: StateRow[] = [];
  const older: StateRow[] = [];
  const write = (address: string, held_in: string, density: number, columns: () => Partial<StateRow>) => {
    for (let hour = FIRST_HOUR + random.int(-2, 6); hour < FIRST_HOUR + HOURS; hour += 1) {
      if (!random.chance(density)) continue;
      const exists = random.chance(0.9) ? 1 : 0;
      const slot = slotOf(hour) + random.int(1, SLOTS_AN_HOUR - 1);
      const row: StateRow = {
        ...{ address, hour, slot: String(slot), exists, ...NOTHING },
        block_time: random.chance(0.05) ? null : hour * HOUR_S - random.int(-3_000, 90_000),
        held_in: exists === 0 && random.chance(0.5) ? '' : held_in,
        ...(exists === 1 ? columns() : {}),
      };
      rows.push(row);
      if (random.chance(0.2))
        older.push({ ...row, slot: String(slot - 1), amount: '5', hwm: '5', exists: 1 });
    }
  };
  const shared = ['token 1', 'token 2', 'token 3', String(policies[0]?.bankroll)];
  const venues: { policy: string; address: string }[] = [];
  for (const { address, bankroll } of policies) {
    write(address, 'policies', 0.4, () => ({
      ...{ hwm: number(), fees_claimed: number(), profit_swept: number(), venue_count: random.int(0, 3) },
    }));
    write(bankroll, 'token_accounts', 0.4, () => ({ amount: number() }));
    for (const which of [1, 2, 3]) {
      const venue = { policy: address, address: `venue ${which} of ${address}` };
      venues.push(venue);
      const kind = random.pick(['Local', 'Remote']);
      const token_account = random.pick(shared);
      write(venue.address, 'venue_accounts', 0.3, () => ({
        ...{ policy: address, token_account, kind, revoked: random.chance(0.2) ? 1 : 0 },
        ...{ remote_equity: number(), remote_asof: random.chance(0.2) ? 0 : random.int(1, 9_999) },
      }));
    }
  }
  for (const token of shared.slice(0, 3)) write(token, 'token_accounts', 0.3, () => ({ amount: number() }));

  const slot = (): number => slotOf(FIRST_HOUR) + random.int(0, HOURS * SLOTS_AN_HOUR);
  const between = (most: number): { after_slot: string; to_slot: string } => {
    const after = slot();
    return { after_slot: String(after), to_slot: String(after + random.int(1, most)) };
  };
  const holes = [
    { after_slot: '0', to_slot: String(slotOf(FIRST_HOUR)) },
    // The hole's first slot is the first of an hour.
    { after_slot: String(slotOf(FIRST_HOUR + 5) - 1), to_slot: String(slotOf(FIRST_HOUR + 5) + 2) },
    ...[between(3), between(3)],
  ];
  const addresses = [...new Set(rows.map(({ address }) => address))];
  const changes = Array.from({ length: 30 }, () => ({ address: random.pick(addresses), ...between(24) }));
  const streamed = addresses
    .filter(() => random.chance(0.5))
    .flatMap((address) => [slot(), slot()].map((at) => ({ address, slot: String(at) })))
    .map((row, at) => ({ ...row, hour: FIRST_HOUR + at }));
  const brought = changes
    .filter(() => random.chance(0.5))
    .flatMap(({ address, to_slot }) =>
      rows.filter((row) => row.address === address && random.chance(0.3)).map((row) => ({ row, to_slot })),
    )
    .map(({ row, to_slot }) => ({ address: row.address, to_slot, slot: row.slot }));
  const carried = Array.from(
    { length: 24 },
    (): CarriedRow => ({
      ...{ address: random.pick(addresses), slot: String(slot()), carried: random.chance(0.5) ? 1 : 0 },
    }),
  );
  // A change missed in an hour's last slot or the next one's first; for some the stream brought a state of the latter.
  for (const address of addresses.slice(0, 12)) {
    const next = slotOf(FIRST_HOUR + random.int(2, HOURS - 1));
    changes.push({ address, after_slot: String(next - 2), to_slot: String(next) });
    if (random.chance(0.7))
      streamed.push({ address, slot: String(next), hour: FIRST_HOUR + streamed.length });
  }
  // Of some hours it is not known where they begin.
  const hours = Array.from({ length: HOURS }, (_, at) => FIRST_HOUR + at).filter((_, at) => at % 7 !== 3);
  const hourSlots = hours.map((hour) => ({ hour, slot: String(slotOf(hour)) }));
  const before = (at: string) => String((1n << 64n) - 1n - BigInt(at));
  return {
    policies: policies.filter(({ exists }) => exists === 1),
    states: rows.toSorted((a, b) => a.hour - b.hour),
    cover: { hours: hourSlots, holes },
    carried,
    unseen: changes.map((change) => ({
      ...change,
      streamed: streamed
        .filter(({ address, slot: at }) => address === change.address && isWithin(at, change))
        .map(({ slot: at }) => at),
      brought: brought
        .filter(({ address, to_slot }) => address === change.address && to_slot === change.to_slot)
        .map(({ slot: at }) => at),
    })),
    inserts: [
      ['policies', policies],
      ['venue_accounts_by_policy', venues],
      ['account_hours', rows.map(hourRow)],
      ['account_hours', [...older, ...rows.slice(0, 20)].map(hourRow)],
      ['hour_slots', hourSlots.map((row) => ({ ...row, before: before(row.slot) }))],
      ['stream_holes', holes],
      ['unseen_changes', [...changes, ...changes]],
      ['carried_accounts', [...carried, ...carried]],
      ['brought_changes', [...brought, ...brought]],
      ['first_streamed', streamed.map((row) => ({ ...row, before: before(row.slot) }))],
    ],
  };
}

const slotOf = (hour: number): number => 1_000 + (hour - FIRST_HOUR + 3) * SLOTS_AN_HOUR;

const isWithin = (slot: string, { after_slot, to_slot }: { after_slot: string; to_slot: string }): boolean =>
  BigInt(slot) > BigInt(after_slot) && BigInt(slot) <= BigInt(to_slot);

const hourRow = ({ slot, ...row }: StateRow): object => ({ ...row, version: String(BigInt(slot) << 64n) });
