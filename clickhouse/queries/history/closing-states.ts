import { eachYielding } from '../../../runtime/yielding.ts';
import type { Store } from '../../client.ts';
import type { CarriedRow } from '../../hour-tables.ts';
import { askInLines } from '../../question.ts';
import { HOUR_COLUMNS, type HourTable, type LatestColumns } from '../../tables.ts';

/** Columns of the state of one table, as they are read: integers over 32 bits are text. */
type Columns<T extends HourTable> = Pick<
  LatestColumns[T],
  (typeof HOUR_COLUMNS)[T][number] & keyof LatestColumns[T]
>;

/** The last state of an account that was seen in an hour. Columns of another table than the one it is held in are not there. */
export interface ClosingState
  extends Columns<'policies'>,
    Columns<'venue_accounts'>,
    Columns<'token_accounts'>,
    Columns<'pools'>,
    Columns<'curve_configs'> {
  address: string;
  /** In hours since 1970. */
  hour: number;
  /** Slot in which it was seen last. */
  seen: string;
  block_time: string | null;
  exists: 0 | 1;
  held_in: HourTable | '';
}

/** The hour in which an account was known first; the moment within it is not kept. */
export type FirstHour = Pick<ClosingState, 'address' | 'hour'>;

/** What the history of a policy is made of: its own account, its bankroll and its pool. */
export interface HistoryAccounts {
  policy: string;
  bankroll: string;
  pool: string;
}

/**
 * The HistoryAccounts, the pool's config, all venue accounts ever, and the token accounts of the Local ones. It reads two
 * tables, hence GLOBAL IN as in `unresolvedOf`, and PREWHERE, into which the engine moves no GLOBAL IN by itself.
 */
const ADDRESSES = `
  SELECT arrayJoin([{policy:String}, {bankroll:String}, {pool:String}]) AS address
  UNION DISTINCT SELECT p.global_config FROM account_hours AS p WHERE p.address = {pool:String} AND p.global_config != ''
  UNION DISTINCT SELECT v.address FROM venue_accounts_by_policy AS v WHERE v.policy = {policy:String}
  UNION DISTINCT SELECT h.token_account FROM account_hours AS h
    WHERE h.kind = 'Local' AND h.address IN (
      SELECT v.address FROM venue_accounts_by_policy AS v WHERE v.policy = {policy:String})`;

const ALL_COLUMNS = [...new Set(Object.values(HOUR_COLUMNS).flat())];
const COLUMNS = ALL_COLUMNS.map((name) => `h.${name} AS ${name}`).join(', ');
const OF_ALL = ['address', 'hour', 'seen', 'block_time', 'exists', 'held_in'] as const;
type Column = (typeof OF_ALL)[number] | (typeof ALL_COLUMNS)[number];
const columnsOf = (columns: readonly Column[]): readonly Column[] => [...OF_ALL, ...columns];
/** The columns of each table's rows, and all columns for a row that is held in no table. */
const COLUMNS_IN: Record<HourTable | '', readonly Column[]> = {
  policies: columnsOf(HOUR_COLUMNS.policies),
  venue_accounts: columnsOf(HOUR_COLUMNS.venue_accounts),
  token_accounts: columnsOf(HOUR_COLUMNS.token_accounts),
  pools: columnsOf(HOUR_COLUMNS.pools),
  curve_configs: columnsOf(HOUR_COLUMNS.curve_configs),
  '': columnsOf(ALL_COLUMNS),
};

/** The closing states of each account, oldest hour first. */
export type StatesByAccount = ReadonlyMap<string, readonly ClosingState[]>;

/** The closing states of the hours from one up to another, and of each account the last before them. */
export async function closingStates(
  store: Store,
  accounts: HistoryAccounts,
  from: number,
  to: number,
): Promise<StatesByAccount> {
  const rows = await askInLines<ClosingState>(store, {
    sql: `SELECT h.address AS address, h.hour AS hour, toString(bitShiftRight(h.version, 64)) AS seen,
       h.block_time AS block_time, h.exists AS exists, h.held_in AS held_in, ${COLUMNS}
     FROM account_hours AS h FINAL
     PREWHERE h.address GLOBAL IN (${ADDRESSES}) AND h.hour < {to:UInt32}
     ORDER BY h.address, h.hour DESC
     LIMIT 1 BY h.address, greatest(h.hour + 1, {from:UInt32})`,
    params: { ...accounts, from, to },
  });
  const states = new Map<string, ClosingState[]>();
  await eachYielding(rows, (row) => {
    const of = states.get(row.address) ?? [];
    states.set(row.address, of);
    of.push(slim(row, of.at(-1)));
  });
  for (const of of states.values()) of.reverse();
  return states;
}

/** The same row without the columns of other tables. Values equal to those of another row share that row's strings. */
function slim(row: ClosingState, other: ClosingState | undefined): ClosingState {
  const own: Record<string, unknown> = {};
  for (const name of COLUMNS_IN[row.held_in])
    own[name] = row[name] === other?.[name] ? other?.[name] : row[name];
  return own as unknown as ClosingState;
}

/** The hour in which each of these accounts was known first. */
export function firstKnown(store: Store, accounts: HistoryAccounts): Promise<FirstHour[]> {
  return store.query(
    `SELECT h.address AS address, min(h.hour) AS hour
     FROM account_hours AS h
     PREWHERE h.address GLOBAL IN (${ADDRESSES})
     GROUP BY h.address`,
    { ...accounts },
  );
}

/** A change that the stream did not bring, and the slots within it of the first states that it brought in an hour. */
export interface UnseenChange {
  address: string;
  after_slot: string;
  to_slot: string;
  streamed: string[];
  /** Slots of states that the stream brought behind the reading that found the change, and that equal what was read. */
  brought: string[];
}

export function unseenChanges(store: Store, accounts: HistoryAccounts): Promise<UnseenChange[]> {
  return store.query(
    `SELECT u.address AS address, u.after_slot AS after_slot, u.to_slot AS to_slot,
       arrayFilter(slot -> slot > u.after_slot AND slot <= u.to_slot, s.slots) AS streamed, b.slots AS brought
     FROM (SELECT DISTINCT address, after_slot, to_slot FROM unseen_changes PREWHERE address GLOBAL IN (${ADDRESSES})) AS u
     LEFT JOIN (
       SELECT f.address AS address, groupUniqArray(f.slot) AS slots FROM first_streamed AS f
       WHERE f.address IN (SELECT address FROM unseen_changes PREWHERE address GLOBAL IN (${ADDRESSES}))
       GROUP BY f.address) AS s ON s.address = u.address
     LEFT JOIN (
       SELECT address, to_slot, groupUniqArray(slot) AS slots FROM brought_changes PREWHERE address GLOBAL IN (${ADDRESSES})
       GROUP BY address, to_slot) AS b ON b.address = u.address AND b.to_slot = u.to_slot
     ORDER BY address, to_slot`,
    { ...accounts },
  );
}

/** The rows that say behind which slots these accounts were lost, or carried again. */
export function carriedAccounts(store: Store, accounts: HistoryAccounts): Promise<CarriedRow[]> {
  return store.query(
    `SELECT DISTINCT c.address AS address, toString(c.slot) AS slot, c.carried AS carried
     FROM carried_accounts AS c PREWHERE c.address GLOBAL IN (${ADDRESSES})
     ORDER BY c.address, c.slot, c.carried`,
    { ...accounts },
  );
}
