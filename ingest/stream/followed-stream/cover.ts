import type { MarkerRecord } from '../../../schemas/records.ts';
import type { LogPosition } from '../../log/port.ts';
import type { Slots } from '../slots/machine.ts';

/** What markers say of followed addresses. */
export interface FollowedCover {
  /**
   * Of the slots behind `after`, up to `to`, the stream of followed addresses brought nothing and never will, or what
   * it brought is in doubt.
   */
  missed(after: bigint, to: bigint): void;
  /** What the marker of a slot that is released now says. */
  markerFields(slot: bigint, blockTime: number | null): Pick<MarkerRecord, 'followed' | 'missed'>;
  /** The slot up to which the core and that stream have brought everything; null before there is one. */
  brought(): bigint | null;
  /**
   * A marker that says so, once followed addresses have come to the slot of the last marker and that marker did not say
   * it; else null.
   */
  catchUpMarker(): MarkerRecord | null;
}

export interface CoverOptions {
  position: LogPosition | null;
  core: Pick<Slots, 'last'>;
  /** The slot up to which followed addresses are in the log; null where none is streamed. */
  reached(): bigint | null;
  /** Unix seconds of a slot. */
  timeOf(slot: bigint): number | null;
}

export function createFollowedCover({ position, core, reached, timeOf }: CoverOptions): FollowedCover {
  let gone: MarkerRecord['missed'];
  /** The last marker, where followed addresses had not come to its slot; else null. */
  let behind: { slot: bigint; blockTime: number | null } | null =
    position === null || position.followed === position.slot
      ? null
      : { slot: position.slot, blockTime: null };

  const markerFields: FollowedCover['markerFields'] = (slot, blockTime) => {
    const cover = gone === undefined ? {} : { missed: gone };
    gone = undefined;
    const at = reached();
    behind = at === null || at >= slot ? null : { slot, blockTime };
    return at === null || behind === null
      ? cover
      : { ...cover, followed: { slot: at, blockTime: timeOf(at) } };
  };
  return {
    missed: (after, to) => {
      if (to > after)
        gone = {
          after: gone !== undefined && gone.after < after ? gone.after : after,
          to: gone !== undefined && gone.to > to ? gone.to : to,
        };
    },
    markerFields,
    brought: () => {
      const at = reached();
      return at !== null && core.last !== null && at < core.last ? at : core.last;
    },
    catchUpMarker: () => {
      if (behind === null || (reached() ?? behind.slot) < behind.slot) return null;
      const { slot } = behind;
      const blockTime = behind.blockTime ?? timeOf(slot);
      return blockTime === null
        ? null
        : { kind: 'marker', slot, parent: slot, blockTime, ...markerFields(slot, blockTime) };
    },
  };
}
