import type { Store } from '../../../clickhouse/client.ts';
import {
  type OpenLetter,
  openLetters,
  outdatedLetters,
  resolveLetters,
} from '../../../clickhouse/queries/progress/dead-letters.ts';
import { logRanges, type Range, withParts } from '../../log/kafka/offset-ranges.ts';
import type { LogEntry, Topic } from '../../log/port.ts';
import { factsOf } from '../../materialise/rows/facts.ts';
import { readStates } from '../../materialise/rows/read-states.ts';
import type { ReplayContext } from './context.ts';
import { rereadRanges } from './rewrite-ranges.ts';

/** Letters by the place of the record that they were found in, `topic/partition/offset`. */
type Sources = Map<string, OpenLetter[]>;

/**
 * Reads again what did not decode. Not from the letter's bytes: they lack what a row needs (an account's owner and
 * version, a transaction's time and index), and the log still has the record whole. What decodes now is written and its
 * letter resolved; the rest stays, and a sentence for each reason says why. A venue's reply is not in the log, and
 * would be out of date: its letter is resolved where a later reply was read well.
 * @throws ConfigError where it is stopped or the database is switched before the end.
 */
export async function replayDeadLetters(context: ReplayContext, store: Store): Promise<void> {
  const { kafka, prefix, programId, say } = context;
  const letters = await openLetters(store);
  const held = await logRanges(kafka, prefix);
  const sources: Sources = new Map();
  const kept = new Map<string, number>();
  const keep = (why: string, count: number) => void kept.set(why, (kept.get(why) ?? 0) + count);
  const outdated = await outdatedLetters(store);
  const readSince = letters.filter(({ id }) => outdated.has(id));
  await resolveLetters(store, readSince);
  for (const letter of letters) {
    if (outdated.has(letter.id)) continue;
    const found = sourceOf(letter, held);
    if ('why' in found) keep(found.why, 1);
    else sources.set(found.place, [...(sources.get(found.place) ?? []), letter]);
  }
  let resolved = 0;
  await rereadRanges(context, store, rangesOf([...sources.keys()], held), async (batch, write) => {
    const placeOf = ({ offset }: LogEntry) => `${batch.topic}/${batch.partition}/${offset}`;
    const wanted = batch.entries.filter((entry) => sources.has(placeOf(entry)));
    const looked = wanted.map((entry) => ({ entry, why: whyStays(entry, programId) }));
    const entries = looked.flatMap(({ entry, why }) => (why === null ? [entry] : []));
    if (entries.length > 0) await write({ ...batch, entries });
    const read = entries.flatMap((entry) => sources.get(placeOf(entry)) as OpenLetter[]);
    await resolveLetters(store, read);
    resolved += read.length;
    for (const entry of wanted) sources.delete(placeOf(entry));
    for (const { why } of looked) if (why !== null) keep(why, 1);
  });
  say(`${letters.length} dead letters: ${resolved} decode now and are resolved`);
  if (readSince.length > 0) say(`${readSince.length} are resolved: the venue’s reply was read well since`);
  for (const [why, count] of kept) say(`${count} stay: ${why}`);
}

function sourceOf(letter: OpenLetter, held: readonly Range[]): { place: string } | { why: string } {
  const place = letter.what === 'log-record' ? letter.at : placeIn(letter);
  if (place === null) {
    return letter.source === 'poll'
      ? { why: 'a venue’s reply, which was not read well since' }
      : { why: 'the log has only its hash, or no record of it' };
  }
  const { topic, partition, offset } = parsePlace(place);
  const range = held.find((one) => one.topic === topic && one.partition === partition);
  return range !== undefined && offset >= range.from && offset < range.to
    ? { place }
    : { why: 'retention has cut its record from the log' };
}

const placeIn = ({ topic, log_partition, log_offset }: OpenLetter): string | null =>
  topic === '' ? null : `${topic}/${log_partition}/${log_offset}`;

function parsePlace(place: string): { topic: Topic; partition: number; offset: bigint } {
  const [topic, partition, offset] = place.split('/') as [Topic, string, string];
  return { topic, partition: Number(partition), offset: BigInt(offset) };
}

/** One range for each partition, from the first wanted record, with its parts, to the last. */
function rangesOf(places: readonly string[], held: readonly Range[]): Range[] {
  const ranges = new Map<string, Range>();
  for (const { topic, partition, offset } of places.map(parsePlace)) {
    const range = ranges.get(`${topic}/${partition}`) ?? { topic, partition, from: offset, to: offset };
    if (offset < range.from) range.from = offset;
    if (offset >= range.to) range.to = offset + 1n;
    ranges.set(`${topic}/${partition}`, range);
  }
  return [...ranges.values()].map((range) => {
    const { from: low = 0n } =
      held.find(({ topic, partition }) => topic === range.topic && partition === range.partition) ?? {};
    return withParts(range, low);
  });
}

const STILL = 'still does not decode';
const POSITION_DEPENDENT =
  'decodes now, but its meaning depends on its position in the log; run a whole replay';

/** Why the letter of a record stays; null where it decodes now, and says the same wherever in the log it is read. */
function whyStays({ record }: LogEntry, programId: Uint8Array): string | null {
  switch (record.kind) {
    case 'transaction':
      return factsOf([record], programId, 0).deadLetters.length === 0 ? null : STILL;
    case 'account':
      return readStates([record], programId).deadLetters.length === 0 ? null : STILL;
    case 'reading':
    case 'time':
    case 'carried':
    case 'unseen':
      return null;
    case 'marker':
    case 'gap':
    case 'verified':
    case 'recompute':
    // A profit belongs to the reading of its transaction that stands behind it.
    case 'profit':
      return POSITION_DEPENDENT;
    case 'part':
    case 'dead-letter':
      return STILL;
  }
}
