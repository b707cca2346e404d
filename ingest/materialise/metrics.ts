import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { nullIfUnanswered } from '../../runtime/process/null-if-unanswered.ts';
import { HISTORY_TOPICS, type LogBatch, TOPICS, type Topic } from '../log/port.ts';
import type { Progress } from './progress.ts';

type Apply = (batch: LogBatch) => Promise<void>;

export interface MaterialiseMetrics {
  /** Measures each batch that is applied. */
  measured(apply: Apply): Apply;
  deadLetter(what: string): void;
  /** Sets which partitions this process has, by topic of the log; others are not reported. */
  assigned(partitions: ReadonlyMap<Topic, readonly number[]>): void;
  /** Sets where a partition stands before its first batch is applied: that one may never be. */
  takenOver(place: Pick<Progress, 'topic' | 'partition' | 'slot'>): void;
}

/**
 * A materialiser's figures for Prometheus.
 * @param ends the offset that the next record gets, by partition of a topic.
 */
export function materialiseMetrics(
  registry: Registry,
  ends: (topic: Topic) => Promise<ReadonlyMap<number, bigint>>,
): MaterialiseMetrics {
  const registers = [registry];
  const seconds = new Histogram({
    name: 'materialise_batch_seconds',
    help: 'Time to write one batch to ClickHouse.',
    labelNames: ['topic'],
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    registers,
  });
  const age = new Histogram({
    name: 'materialise_batch_age_seconds',
    help: 'From the block time of a batch’s newest slot until it is in every figure.',
    buckets: [0.5, 1, 2, 3, 5, 10, 30, 60, 300],
    registers,
  });
  const slot = new Gauge({
    name: 'materialise_applied_slot',
    help: 'Last slot that is applied, by partition.',
    labelNames: ['topic', 'partition'],
    registers,
  });
  const records = new Counter({
    name: 'materialise_records_total',
    help: 'Records of the log that were applied.',
    labelNames: ['topic'],
    registers,
  });
  const deadLetters = new Counter({
    name: 'materialise_dead_letters_total',
    help: 'What did not decode and was kept with its reason.',
    labelNames: ['what'],
    registers,
  });
  let own: ReadonlyMap<Topic, readonly number[]> = new Map();
  const next = new Map<string, bigint>();
  const askedEnds = TOPICS.map((topic) => [topic, nullIfUnanswered(() => ends(topic))] as const);
  new Gauge({
    name: 'materialise_consumer_lag',
    help: 'Records of the log that are not applied yet, of the partitions of this process.',
    labelNames: ['topic', 'partition'],
    registers,
    async collect() {
      this.reset();
      // /ready tells of a log that does not answer; the other metrics are still wanted.
      const high = await Promise.all(askedEnds.map(async ([topic, ask]) => [topic, await ask()] as const));
      for (const [topic, ofTopic] of high) {
        for (const partition of own.get(topic) ?? []) {
          const end = ofTopic?.get(partition);
          const at = next.get(`${topic}/${partition}`);
          if (end !== undefined && at !== undefined) this.set({ topic, partition }, Number(end - at));
        }
      }
    },
  });
  return {
    measured: (apply) => async (batch) => {
      const { topic, partition, entries } = batch;
      const place = `${topic}/${partition}`;
      // A partition whose first batch is never applied lags from the first record of that on.
      if (!next.has(place) && entries[0] !== undefined) next.set(place, entries[0].offset);
      const stop = seconds.startTimer({ topic });
      await apply(batch);
      stop();
      records.inc({ topic }, batch.entries.length);
      const last = batch.entries.at(-1);
      if (last !== undefined) next.set(place, last.offset + 1n);
      const marker = batch.entries.findLast(({ record }) => record.kind === 'marker')?.record;
      if (marker?.kind !== 'marker') return;
      slot.set({ topic, partition }, Number(marker.slot));
      if (marker.blockTime !== null) age.observe(Math.max(0, Date.now() / 1000 - marker.blockTime));
    },
    deadLetter: (what) => deadLetters.inc({ what: what.slice(0, 40) }),
    assigned: (partitions) => {
      // Another process may have applied more of those that come back: nothing is known of them until their next batch.
      for (const [topic, ofTopic] of partitions)
        for (const partition of ofTopic)
          if (own.get(topic)?.includes(partition) !== true) next.delete(`${topic}/${partition}`);
      own = partitions;
      slot.reset();
    },
    // The other topics have no markers, and so no slot.
    takenOver: ({ topic, partition, slot: at }) => {
      if (HISTORY_TOPICS.includes(topic)) slot.set({ topic, partition }, Number(at));
    },
  };
}
