import type { CarriedRow } from '../../clickhouse/hour-tables.ts';
import { uncarried } from '../../clickhouse/queries/history/carried.ts';
import type { UnseenChange } from '../../clickhouse/queries/history/closing-states.ts';
import {
  type FirstSlots,
  firstSlots,
  type StreamCover,
} from '../../clickhouse/queries/history/stream-cover.ts';

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
 * A state holds until the next one as long as the stream brought every slot between them. It does not where slots are
 * missing behind it, nor where no stream brought that account, nor where a reading over RPC found another state that the
 * stream had not brought.
 */
export function createCover(
  { hours, holes }: StreamCover,
  unseen: readonly UnseenChange[],
  carried: readonly CarriedRow[],
): Cover {
  const begins = firstSlots({ hours });
  const places = holes.map(({ after_slot, to_slot }) => ({ after: BigInt(after_slot), to: BigInt(to_slot) }));
  const changes = Map.groupBy(
    unseen.map(({ address, after_slot, to_slot, streamed, brought }) => ({
      address,
      after: BigInt(after_slot),
      to: BigInt(to_slot),
      streamed: streamed.map(BigInt),
      brought: new Set(brought),
    })),
    ({ address }) => address,
  );
  const losses = Map.groupBy(uncarried(carried), ({ address }) => address);
  return {
    begins,
    lost: ({ address, seen: text }, end) => {
      const seen = BigInt(text);
      const begin = begins(end);
      if (begin === null) return 'the index has not come to this moment';
      const hole = places.find(({ after, to }) => seen < to && after + 1n < begin);
      if (hole !== undefined) return notStreamed(address, hole.after + 1n, hole.to);
      const ofAddress = losses.get(address) ?? [];
      // What was read meanwhile holds in the slot of the reading alone.
      const loss = ofAddress.find(
        ({ after, to }) => (to === null || seen < to) && (seen > after ? seen : after) + 1n < begin,
      );
      if (loss !== undefined) {
        const from = (seen > loss.after ? seen : loss.after) + 1n;
        const to = loss.to !== null && loss.to < begin ? loss.to : begin - 1n;
        return notStreamed(address, from, to);
      }
      const change = (changes.get(address) ?? []).find(
        ({ after, to, streamed, brought }) =>
          seen < to &&
          !brought.has(text) &&
          after + 1n < begin &&
          // What was left out of the first of two slots is explained by nothing of the second.
          (to - after === 2n ||
            (!streamed.some((slot) => slot >= begin) &&
              // What was missed may explain it, and begins later.
              !places.some(
                (missed) => missed.after >= after && missed.to <= to && begin <= missed.after + 1n,
              ) &&
              !ofAddress.some((lost) => lost.after >= after && lost.after < to && begin <= lost.after + 1n))),
      );
      if (change === undefined) return null;
      return `${address} was another in slot ${change.to} than in slot ${change.after}, and the stream did not bring when it changed`;
    },
  };
}

const notStreamed = (address: string, from: bigint, to: bigint): string =>
  `slots ${from} to ${to} were not streamed: what ${address} was there is not known`;
