import { differingSums, keptHours } from '../../../../clickhouse/queries/audit/quote-hours.ts';
import { pause } from '../../../../runtime/process/lifecycle.ts';
import { HOUR_S, isoTime } from '../../../../schemas/units.ts';
import type { AuditContext } from '../context.ts';

const SUBJECT = 'hours';
const HOURS_AT_ONCE = 24;

/** Makes the stored sums of hours again from the closing states, for hours whose stored sums are said to hold. */
export async function auditQuoteHours({ store, report, signal, pauseMs }: AuditContext): Promise<void> {
  const hours = await keptHours(store);
  for (let at = 0; at < hours.length && !signal.aborted; at += HOURS_AT_ONCE) {
    const ends = hours.slice(at, at + HOURS_AT_ONCE);
    const { compared, differences } = await differingSums(store, ends);
    report.compared(SUBJECT, compared);
    if (differences.length === 0) continue;
    // A difference that is found twice is not from a write in between.
    await pause(pauseMs, signal);
    const again = await differingSums(store, ends);
    for (const { hour, kept, made } of again.differences)
      if (differences.some((one) => one.hour === hour && one.kept === kept && one.made === made))
        report.difference(SUBJECT, {
          ...{ mint: null, figure: `quote_hours.sums at ${isoTime(hour * HOUR_S)}` },
          values: [
            ['kept', kept],
            ['states', made],
          ],
          slot: null,
        });
  }
}
