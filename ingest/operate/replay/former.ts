import { pause } from '../../../runtime/process/lifecycle.ts';
import { materialiserGroup } from '../../log/kafka/topics.ts';
import type { ReplayContext } from './context.ts';

/**
 * Whoever fills the former database has so long to finish his batch and leave it: an `npm start` that ends has 10 s, and
 * one that could not say so by then is a member of its group for 12 s more.
 */
const LEAVES_WITHIN_MS = 25_000;
const LOOK_EVERY_MS = 200;

interface Leaving extends Pick<ReplayContext, 'prefix' | 'signal'> {
  home: Pick<ReplayContext['home'], 'database'>;
  kafka: Pick<ReplayContext['kafka'], 'groupMembers'>;
}

/** What may become of the database that served before: nobody is told to drop one that somebody works with. */
export async function formerHint(
  { home, kafka, prefix, signal }: Leaving,
  database: string,
  withinMs = LEAVES_WITHIN_MS,
): Promise<string> {
  if (database === home.database)
    return `${database} keeps the row that names the serving one: do not drop it`;
  const group = materialiserGroup(prefix, database);
  const until = performance.now() + withinMs;
  for (;;) {
    const members = await kafka.groupMembers(group).catch(() => null);
    // Each answer keeps for two minutes to the database that it began with; who is in no group keeps to his to the end.
    if (members === 0)
      return `an api may read ${database} for three minutes yet, and a backfill or an audit that began before the switch until it ends; then DROP DATABASE ${database} frees its space`;
    if (signal.aborted || performance.now() > until)
      return `somebody may still fill ${database}: do not drop it before that process has ended`;
    await pause(LOOK_EVERY_MS, signal);
  }
}
