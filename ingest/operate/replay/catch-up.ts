import type { Store } from '../../../clickhouse/client.ts';
import {
  appliedOffsets,
  type Offsets,
  reaches,
} from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import { retryUntilDone } from '../../../runtime/retry.ts';
import { logRanges, type Range, recordsIn } from '../../log/kafka/offset-ranges.ts';
import { materialiserGroup, topicName } from '../../log/kafka/topics.ts';
import { TOPICS } from '../../log/port.ts';
import type { ReplayContext } from './context.ts';

const LOOK_EVERY_MS = 200;
/** The new database is level once it has all that the serving one had at most this long ago. */
const CAUGHT_UP_WITHIN_MS = 2_000;

/**
 * Resolves once `store` has what the log held when this began, and all that `former` had a moment ago; or the signal
 * was given.
 */
export async function untilCaughtUp(context: ReplayContext, former: Store, store: Store): Promise<void> {
  const { kafka, prefix, signal, progress } = context;
  const held = await retryUntilDone('reading where the log ends', () => logRanges(kafka, prefix), context);
  if (held === null) return;
  let target: { offsets: Offsets; at: number } | null = {
    offsets: lastOffsets(held),
    at: Number.NEGATIVE_INFINITY,
  };
  while (!signal.aborted) {
    const offsets = await retryUntilDone('reading how far it is', () => appliedOffsets(store), context);
    if (offsets === null) return;
    const total = await retryUntilDone('reading where the log ends', () => logRanges(kafka, prefix), context);
    progress.update(countOf(offsets), total === null ? null : recordsIn(total));
    if (target !== null && reaches(offsets, target.offsets)) {
      if (performance.now() - target.at < CAUGHT_UP_WITHIN_MS) return;
      target = null;
    }
    if (target === null) {
      const at = performance.now();
      const served = await retryUntilDone(
        'reading how far live is',
        () => servedOffsets(context, former),
        context,
      );
      if (served === null) return;
      target = { offsets: served, at };
      if (reaches(offsets, served)) return;
    }
    await pause(LOOK_EVERY_MS, signal);
  }
}

/** What the serving database has applied, or its group has committed where that is more. */
async function servedOffsets(context: ReplayContext, former: Store): Promise<Offsets> {
  const offsets = new Map(await appliedOffsets(former));
  for (const [place, offset] of await committedOffsets(context, former.database)) {
    if (offset > (offsets.get(place) ?? -1n)) offsets.set(place, offset);
  }
  return offsets;
}

/** The last offsets that the group of a database has committed. */
export async function committedOffsets({ kafka, prefix }: ReplayContext, database: string): Promise<Offsets> {
  const offsets = new Map<string, bigint>();
  for (const topic of TOPICS) {
    const next = await kafka.groupOffsets(materialiserGroup(prefix, database), topicName(prefix, topic));
    for (const [partition, offset] of next) {
      if (offset !== null && offset > 0n) offsets.set(`${topic}/${partition}`, offset - 1n);
    }
  }
  return offsets;
}

const lastOffsets = (ranges: readonly Range[]): Offsets =>
  new Map(
    ranges.filter(({ to }) => to > 0n).map(({ topic, partition, to }) => [`${topic}/${partition}`, to - 1n]),
  );

const countOf = (offsets: Offsets): number =>
  [...offsets.values()].reduce((sum, offset) => sum + Number(offset) + 1, 0);
