import type { CarriedRow } from '../../clickhouse/hour-tables.ts';
import { type Uncarried, uncarried } from '../../clickhouse/queries/history/carried.ts';
import type { UnseenChange } from '../../clickhouse/queries/history/closing-states.ts';
import {
  type FirstSlots,
  firstSlots,
  type StreamCover,
} from '../../clickhouse/queries/history/stream-cover.ts';
import { createStreamHoles, type Hole, type StreamHoles } from './stream-holes.ts';

/** A state in its hour, and the slot in which it was seen last. */
interface Placed {
  address: string;
  hour: number;
  seen: string;
}

/** What is known of the states at the ends of hours. An end is the hour that begins there, in hours since 1970. */
export interface Cover {
  begins: FirstSlots;
  /** Why a state does not hold until an end; null where it does. */
  lost(state: Placed, end: number): string | null;
}

/**
 * A state holds until the next one as long as the stream brought every slot between them. It does not where slots after
 * it are missing, nor where no stream carried that account, nor where a reading over RPC found another state that the
 * stream had not brought.
 */
export function createCover(
  { hours, holes }: StreamCover,
  unseen: readonly UnseenChange[],
  carried: readonly CarriedRow[],
): Cover {
  const begins = firstSlots({ hours });
  const missing = createStreamHoles(
    holes.map(({ after_slot, to_slot }) => ({ after: BigInt(after_slot), to: BigInt(to_slot) })),
  );
  const losses = Map.groupBy(uncarried(carried), ({ address }) => address);
  const changes = Map.groupBy(
    unseen.map((change) => changeOf(change, missing, losses.get(change.address) ?? [])),
    ({ address }) => address,
  );
  return {
    begins,
    lost: ({ address, seen: text }, end) => {
      const seen = BigInt(text);
      const begin = begins(end);
      if (begin === null) return 'the index has not come to this moment';
      const hole = missing.endingBehind(seen);
      if (hole !== undefined && hole.after + 1n < begin)
        return notStreamed(address, hole.after + 1n, hole.to);
      // While an account is not carried, a state that was read over RPC holds only in the slot of that reading.
      const loss = (losses.get(address) ?? []).find(
        ({ after, to }) => (to === null || seen < to) && (seen > after ? seen : after) + 1n < begin,
      );
      if (loss !== undefined) {
        const from = (seen > loss.after ? seen : loss.after) + 1n;
        const to = loss.to !== null && loss.to < begin ? loss.to : begin - 1n;
        return notStreamed(address, from, to);
      }
      const change = (changes.get(address) ?? []).find(
        ({ to, lastBegin, brought }) => seen < to && lastBegin < begin && !brought.has(text),
      );
      if (change === undefined) return null;
      return `${address} was another in slot ${change.to} than in slot ${change.after}, and the stream did not bring when it changed`;
    },
  };
}

/** A change that the stream did not bring. */
interface Change extends Hole {
  address: string;
  /** The state before the change holds at hours that begin in this slot or earlier, and is not known at later ones. */
  lastBegin: bigint;
  brought: ReadonlySet<string>;
}

function changeOf(
  { address, after_slot, to_slot, streamed, brought }: UnseenChange,
  missing: StreamHoles,
  losses: readonly Uncarried[],
): Change {
  const [after, to] = [BigInt(after_slot), BigInt(to_slot)];
  const change = { address, after, to, lastBegin: after + 1n, brought: new Set(brought) };
  // Two slots stand for a write that the stream left out of the first: nothing of the second explains it.
  if (to - after === 2n) return change;
  const explained = streamed.map(BigInt);
  // A hole, or a time without being carried, may explain the change, and begins later.
  const hole = missing.lastWithin(change);
  if (hole !== undefined) explained.push(hole.after + 1n);
  for (const loss of losses) if (loss.after >= after && loss.after < to) explained.push(loss.after + 1n);
  for (const slot of explained) if (slot > change.lastBegin) change.lastBegin = slot;
  return change;
}

const notStreamed = (address: string, from: bigint, to: bigint): string =>
  `slots ${from} to ${to} were not streamed: what ${address} was there is not known`;
