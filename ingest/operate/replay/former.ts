import { pause } from '../../../runtime/process/lifecycle.ts';
import { materialiserGroup } from '../../log/kafka/topics.ts';
import type { ReplayContext } from './context.ts';

/**
 * A process that fills the former database has this long to finish its batch and leave: an `npm start` that ends has 10
 * s, and if it could not leave its group by then it is a member for 12 s more.
 */
const LEAVES_WITHIN_MS = 25_000;
const LOOK_EVERY_MS = 200;

interface Leaving extends Pick<ReplayContext, 'prefix' | 'signal'> {
  home: Pick<ReplayContext['home'], 'database'>;
  kafka: Pick<ReplayContext['kafka'], 'groupMembers'>;
}

/** A sentence on what may be done with the database that served before: never to drop one that a process works with. */
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
    // Each answer of an API keeps to the database that it began with for two minutes; a process that is in no group,
    // such as a backfill, keeps to its database to the end.
    if (members === 0)
      return `an api may read ${database} for three minutes yet, and a backfill or an audit that began before the switch until it ends; then DROP DATABASE ${database} frees its space`;
    if (signal.aborted || performance.now() > until)
      return `somebody may still fill ${database}: do not drop it before that process has ended`;
    await pause(LOOK_EVERY_MS, signal);
  }
}
