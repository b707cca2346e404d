import type { Logger } from '../../../runtime/process/log.ts';
import type { LogPosition } from '../../log/port.ts';
import type { GeyserClient } from '../geyser/client.ts';
import type { AccountUpdate } from '../geyser/update.ts';
import type { StreamLimits } from '../limits.ts';
import type { Slots } from '../slots/machine.ts';
import type { FollowedCover } from './cover.ts';
import type { Followed } from './followed-status.ts';

export interface FollowedStreamOptions extends Pick<StreamLimits, 'silenceMs' | 'awayAfterMs' | 'aloneMs'> {
  client: GeyserClient;
  commitment: 'confirmed' | 'finalized';
  /** Where the log ends. */
  position: LogPosition | null;
  core: Pick<Slots, 'last' | 'held'>;
  /** Every followed address, what matters most first. */
  addresses(): readonly string[];
  /** Whether the core's owner filter brings this state, too. */
  isOfCore(update: AccountUpdate): boolean;
  /** A request for these is at work from that slot on: has them read there or later. */
  read(addresses: readonly string[], notBefore: bigint): void;
  /** Likewise for all addresses of a request that may have missed something before that slot. */
  reread(addresses: readonly string[], notBefore: bigint): void;
  /**
   * An update of one of these addresses cannot be read but for its slot; the stream has brought everything up to
   * `reached`.
   */
  onUnreadable(addresses: readonly string[], slot: bigint, reached: bigint | null): void;
  /** The block meta of a slot came by the last request, which asks for those addresses. */
  onAtWork(slot: bigint, addresses: () => readonly string[]): void;
  /** Unix seconds of a slot, as the core knows them. */
  coreTimeOf(slot: bigint): number | null;
  /** A state of a slot that was handed out before. */
  onLate(update: AccountUpdate): void;
  /** The core is to release nothing above this slot; null: no limit. */
  onCeiling(ceiling: bigint | null): void;
  /** The stream has come further, and what the core could release by that is handed out. */
  onReached(): void;
  /** `overRpc`: addresses that no stream carries. */
  onFollowed(followed: Followed, overRpc: readonly string[]): void;
  /**
   * The stream carries no address from now on: `allRead` is to be called once each was read over RPC at that slot or
   * later.
   */
  onAway(notBefore: bigint, allRead: () => void): void;
  logger: Logger;
  signal: AbortSignal;
}

export interface FollowedStream {
  /** Adds addresses that came up. */
  add(addresses: readonly string[]): void;
  /** The core releases this slot: hands out the states of it, and of slots before it, that are here. */
  upTo(slot: bigint): AccountUpdate[];
  /** The core begins at this slot: everything up to it counts as known where nothing was followed before. */
  beginAt(slot: bigint): void;
  /** The core has taken an update. */
  onCore(): void;
  onCoreBegin(): void;
  /**
   * The core's stream has ended. Where it brought nothing, or ends because of this one, the provider may give one
   * stream and no more: then that is the core's.
   */
  onCoreEnd(brought: boolean, isOurs: boolean): void;
  cover: FollowedCover;
  /** Unix seconds of a slot that this stream has told of. */
  timeOf(slot: bigint): number | null;
  /** Runs until the signal is given. */
  run(): Promise<void>;
}
