import type { Slots } from '../slots/machine.ts';

/** The slot above which the core releases nothing: that which the stream beside it has come to. */
export interface ReleaseCeiling {
  /** Whether there is a stream to wait for. */
  set(active: boolean): void;
  /** The stream beside the core has come further. */
  onReached(): void;
  /** The core has taken an update. */
  onCore(): void;
  isActive(): boolean;
}

export interface ReleaseCeilingOptions {
  core: Pick<Slots, 'last' | 'held'>;
  /** How far the stream beside the core has come; null before it begins. */
  reached(): bigint | null;
  /** The core is to release nothing above this slot; null: no limit. */
  onCeiling(ceiling: bigint | null): void;
  /** The core goes on without that stream (true), or waits for it again (false). */
  onBehind(behind: boolean): void;
}

/** Complete slots that are held back at most. */
const MOST_HELD_SLOTS = 150;
/** Slots are held for so many ticks in a row without progress of the stream beside the core: three seconds. */
const MOST_TICKS = 12;
/** A process that is blocked ticks once, however long it was, and reads what came meanwhile before the next tick. */
const TICK_MS = 250;

/**
 * Holds the core at the slot that the stream beside it has come to: while that one goes on, and for a moment where it
 * does not. Then the core goes on alone, until that stream is where the core is.
 */
export function createReleaseCeiling({
  core,
  reached,
  onCeiling,
  onBehind,
}: ReleaseCeilingOptions): ReleaseCeiling {
  let active = false;
  let behind = false;
  let ticks = 0;
  let timer: NodeJS.Timeout | null = null;

  const rest = () => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    ticks = 0;
  };
  const setBehind = (now: boolean) => {
    if (behind === now) return;
    behind = now;
    onBehind(now);
  };
  const apply = () => onCeiling(active && !behind ? (reached() ?? -1n) : null);
  const goOn = () => {
    rest();
    setBehind(true);
    apply();
  };
  const watch = () => {
    if (!active || behind || core.held === 0) rest();
    else if (core.held > MOST_HELD_SLOTS) goOn();
    else {
      timer ??= setInterval(() => {
        ticks += 1;
        if (ticks >= MOST_TICKS) goOn();
      }, TICK_MS).unref();
    }
  };
  return {
    set: (now) => {
      if (now === active) return;
      active = now;
      setBehind(false);
      apply();
      watch();
    },
    onReached: () => {
      rest();
      if ((reached() ?? -1n) >= (core.last ?? 0n)) setBehind(false);
      apply();
      watch();
    },
    onCore: watch,
    isActive: () => active,
  };
}
