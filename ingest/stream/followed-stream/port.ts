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
  /** Told by the core's owner filter already. */
  isOfCore(update: AccountUpdate): boolean;
  /** A request for them is at work from that slot on: has them read there or later. */
  read(addresses: readonly string[], notBefore: bigint): void;
  /** Likewise of all that a request asks for, where it may have missed something before that slot. */
  reread(addresses: readonly string[], notBefore: bigint): void;
  /** An update of one of these cannot be read, and says that it is of that slot; all is here up to `reached`. */
  onUnreadable(addresses: readonly string[], slot: bigint, reached: bigint | null): void;
  /** The block meta of a slot came by the last request, which asks for those addresses. */
  onAtWork(slot: bigint, addresses: () => readonly string[]): void;
  /** Unix seconds of a slot, as the core knows them. */
  coreTimeOf(slot: bigint): number | null;
  /** A state of a slot that was handed out before. */
  onLate(update: AccountUpdate): void;
  /** The core is to release nothing above this slot; null: whatever it has. */
  onCeiling(ceiling: bigint | null): void;
  /** It has come further, and handed out all that the core has released meanwhile. */
  onReached(): void;
  /** `overRpc`: addresses that no stream carries. */
  onFollowed(followed: Followed, overRpc: readonly string[]): void;
  /** It carries none of them from now on: `allRead` is to be called once each was read at that slot or later. */
  onAway(notBefore: bigint, allRead: () => void): void;
  logger: Logger;
  signal: AbortSignal;
}

export interface FollowedStream {
  /** Addresses that came up. */
  add(addresses: readonly string[]): void;
  /** The core releases this slot: hands out what is here of it and of those before. */
  upTo(slot: bigint): AccountUpdate[];
  /** Everything is known up to this slot where nothing was followed before. */
  beginAt(slot: bigint): void;
  /** The core has taken something. */
  onCore(): void;
  onCoreBegin(): void;
  /** Where it brought nothing, or ends for this one, a provider may give one stream and no more: then that is the core's. */
  onCoreEnd(brought: boolean, isOurs: boolean): void;
  cover: FollowedCover;
  /** Unix seconds of a slot that this stream has told of. */
  timeOf(slot: bigint): number | null;
  /** Runs until the signal is given. */
  run(): Promise<void>;
}
