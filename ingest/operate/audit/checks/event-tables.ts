import { differingMints, firstDifferingEvent } from '../../../../clickhouse/queries/audit/event-tables.ts';
import { mintRanges } from '../../../../clickhouse/queries/audit/ranges.ts';
import { unappliedOfTransaction } from '../../../../clickhouse/queries/audit/unapplied.ts';
import { pause } from '../../../../runtime/process/lifecycle.ts';
import type { AuditContext } from '../context.ts';

/** This many, because each query reads the whole of the table by slot. */
const MINTS_AT_ONCE = 20_000;
const TRIES = 6;

/** Compares the two tables that hold the same events in two orders. */
export async function auditEventTables(context: AuditContext): Promise<void> {
  const { store, report, signal } = context;
  for await (const range of mintRanges(store, MINTS_AT_ONCE)) {
    if (signal.aborted) return;
    const { mints, compared } = await differingMints(store, range);
    report.compared('event tables', compared - mints.length);
    for (const mint of mints) await lookAgain(context, mint);
  }
}

/**
 * An event whose batch had written all before the second look is in both tables, whatever is being written meanwhile.
 */
async function lookAgain(context: AuditContext, mint: string): Promise<void> {
  const { store, report, signal, pauseMs } = context;
  for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt += 1) {
    if (attempt > 0) await pause(pauseMs, signal);
    const first = await firstDifferingEvent(store, mint);
    if (first === null) return report.compared('event tables', 1);
    if ((await unappliedOfTransaction(store, { mint, slot: first.slot, signature: first.signature })) > 0)
      continue;
    const again = await firstDifferingEvent(store, mint);
    if (again?.signature !== first.signature || again.slot !== first.slot) continue;
    report.compared('event tables', 1);
    report.difference('event tables', {
      mint,
      figure: `events up to transaction ${again.signature}`,
      values: [
        ['events', again.by_mint],
        ['events_by_slot', again.by_slot],
      ],
      slot: again.slot,
    });
    return;
  }
  report.notComparable('event tables', 'events of a batch that is not applied yet');
}
