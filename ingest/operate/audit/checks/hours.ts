import { inPieces } from '../../../../clickhouse/key-pieces.ts';
import { countedStates } from '../../../../clickhouse/queries/audit/counters.ts';
import type { Term } from '../../../../clickhouse/queries/audit/first-slot.ts';
import {
  type CountedHour,
  countedHours,
  HOUR_COUNTERS,
  type HourCounter,
  type HourDifference,
  lastHours,
} from '../../../../clickhouse/queries/audit/hours.ts';
import { HOUR_COLUMNS, type HourTable } from '../../../../clickhouse/tables.ts';
import { pause } from '../../../../runtime/process/lifecycle.ts';
import { HOUR_S, isoTime } from '../../../../schemas/units.ts';
import type { AuditContext } from '../context.ts';
import { historyState, missingBefore } from '../history-state.ts';
import type { Report } from '../report.ts';
import { firstDivergence } from './divergence.ts';

const SUBJECT = 'hours';
const POLICIES_AT_ONCE = 50;

const TERMS: Record<HourCounter, readonly Term[]> = {
  fees_claimed: ['FeesClaimed.a'],
  profit_swept: ['ProfitSwept.b', 'ProfitSwept.c'],
  tokens_burned: ['BuybackBurned.b', 'BaseLegBurned.a'],
};

/**
 * Compares the closing states of hours: the last one of each account with its latest state, and the counters of every
 * one of a policy with the events up to the slot in which it was seen.
 */
export async function auditHours(context: AuditContext): Promise<void> {
  for (const table of Object.keys(HOUR_COLUMNS) as HourTable[]) await auditLast(context, table);
  const { store, signal } = context;
  for (let after = ''; !signal.aborted; ) {
    const states = await countedStates(store, after, POLICIES_AT_ONCE);
    await auditCounted(
      context,
      states.map(({ mint }) => mint),
    );
    const last = states.at(-1);
    if (last === undefined || states.length < POLICIES_AT_ONCE) return;
    after = last.address;
  }
}

async function auditLast({ store, report, signal, pauseMs }: AuditContext, table: HourTable): Promise<void> {
  const { compared, differences } = await lastHours(store, table, []);
  report.compared(SUBJECT, compared);
  if (differences.length === 0) return;
  // The two tables are read one after the other: a difference that is found twice is not from a write in between.
  await pause(pauseMs, signal);
  const suspects = new Set(differences.map(textOf));
  const addresses = new Set(differences.map(({ address }) => address));
  const again = await inPieces([...addresses], (some) => lastHours(store, table, some));
  for (const one of again.flatMap((piece) => piece.differences))
    if (suspects.has(textOf(one))) tellLast(report, one);
}

const textOf = ({ address, column, kept, version }: HourDifference): string =>
  JSON.stringify([address, column, kept, version]);

function tellLast(report: Report, { address, column, kept, latest, slot }: HourDifference): void {
  report.difference(SUBJECT, {
    mint: null,
    figure: `account_hours.${column} of ${address}`,
    values: [
      ['kept', kept],
      ['served', latest],
    ],
    slot,
  });
}

async function auditCounted(context: AuditContext, mints: readonly string[]): Promise<void> {
  if (mints.length === 0) return;
  const { store, report, signal, pauseMs } = context;
  // Read first: a state is often stored before the events of its slot, and is not comparable then.
  const history = await historyState(store);
  const rows = await countedHours(store, mints);
  const suspects: CountedHour[] = [];
  for (const row of rows) {
    const missing = missingBefore(history, row.address, BigInt(row.slot));
    if (missing !== null) report.notComparable(SUBJECT, missing, HOUR_COUNTERS.length);
    else {
      report.compared(SUBJECT, HOUR_COUNTERS.length);
      if (differing(row).length > 0) suspects.push(row);
    }
  }
  if (suspects.length === 0) return;
  await pause(pauseMs, signal);
  const again = await countedHours(store, [...new Set(suspects.map(({ mint }) => mint))]);
  for (const row of again)
    if (suspects.some(({ address, hour, slot }) => isSame(row, { address, hour, slot })))
      for (const name of differing(row)) await tell(context, row, name);
}

const isSame = (row: CountedHour, { address, hour, slot }: Pick<CountedHour, 'address' | 'hour' | 'slot'>) =>
  row.address === address && row.hour === hour && row.slot === slot;

const differing = (row: CountedHour): HourCounter[] =>
  HOUR_COUNTERS.filter((name) => row[name] !== row[`events_${name}`]);

async function tell(context: AuditContext, row: CountedHour, name: HourCounter): Promise<void> {
  const { mint, slot: upTo, hour } = row;
  const values = { events: row[`events_${name}`], other: row[name] };
  const events = { of: 'mint', mint, partition: null, upTo } as const;
  context.report.difference(SUBJECT, {
    mint,
    figure: `Policy.${name} in the hour of ${isoTime(hour * HOUR_S)}`,
    values: [
      ['kept', values.other],
      ['events', values.events],
    ],
    slot: await firstDivergence(context, events, TERMS[name], values),
  });
}
