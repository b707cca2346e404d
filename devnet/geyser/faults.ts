import { status } from '@grpc/grpc-js';
import type { Block, Ledger } from '../chain/ledger.ts';
import { type DeadVersion, deadVersion, lossy } from './dead-version.ts';
import { type EncodedTransaction, type EncodedUpdate, encodeTransaction } from './encode.ts';
import { oddities } from './oddities.ts';
import { type Noise, noise, SPOILS, spoilt } from './spoilt.ts';

/** What a test may do to the stream. "Seeded": the given numbers or seed decide what is affected; null ends it. */
export interface GeyserFaults {
  /** Ends every stream at once, as a restarting server does. */
  drop(): void;
  /** Ends every stream and refuses each new one with RESOURCE_EXHAUSTED and this text; null: no longer. */
  limit(words: string | null): void;
  limited(): string | null;
  /** While true, nothing is sent; `followed`: nothing to streams that name accounts by address, all to others. */
  stall(on: boolean | 'followed'): void;
  stalled(isOfAddresses: boolean): boolean;
  /** Sends each update twice and the updates of a slot in another order, seeded. */
  scramble(random: (() => number) | null): void;
  /** Leaves slots out, as a server that lost them does; `followed`: only from streams that name accounts by address. */
  hide(slots: ReadonlySet<bigint>, of?: 'all' | 'followed'): void;
  hidden(slot: bigint, isOfAddresses: boolean): boolean;
  /** Ends each stream that comes to one of these slots, as a server does when an update is larger than its limit. */
  choke(slots: ReadonlySet<bigint>): void;
  chokes(slot: bigint): boolean;
  /**
   * Mixes a slot's dead version into its second one, as the original server does: adds transactions that the chain does
   * not have, and leaves out some that it has. Seeded.
   */
  mixInDeadVersion(random: (() => number) | null): void;
  /** How many of the program's transactions `mixInDeadVersion` has added and left out since it was set. */
  mixedIn(): MixedIn;
  /** Has some slots made twice, and sends both versions, as the original server does. Seeded; null: no longer. */
  remake(seed: string | null): void;
  deadVersion(ledger: Ledger, block: Block): DeadVersion | null;
  /** Leaves out some of the program's transactions with what they wrote. Seeded; null: no longer. */
  lose(seed: string | null): void;
  /** The block as it is sent, without what `lose` leaves out. */
  blockAsSent(block: Block): Block;
  /** Sends some transactions in a form that cannot be read, each in one of SPOILS. Seeded. */
  spoil(random: (() => number) | null): void;
  /** Sends updates that say nothing, or nothing true, in front of each block. Seeded. */
  sendOddities(random: (() => number) | null): void;
  /** Sends an update that cannot be read but for this slot in front of each block; null: no longer. */
  noise(of: Noise['of'], slot: bigint | null): void;
  oddities(block: Block): EncodedUpdate[];
  /** The transactions of a block as they are sent. */
  transactions(block: Block, encoded: readonly EncodedTransaction[]): readonly EncodedTransaction[];
  shape(bytes: Buffer): Buffer[];
  order<T>(updates: readonly T[]): readonly T[];
}

export interface MixedIn {
  ghosts: number;
  lost: number;
}

export function createFaults(endAll: (code: status, details: string) => void): GeyserFaults {
  let limited: string | null = null;
  let stalled: boolean | 'followed' = false;
  let random: (() => number) | null = null;
  let mixing: (() => number) | null = null;
  let mixed: MixedIn = { ghosts: 0, lost: 0 };
  let remade: string | null = null;
  let losing: string | null = null;
  let spoiling: (() => number) | null = null;
  let odd: (() => number) | null = null;
  let noisy: Noise | null = null;
  let hidden: ReadonlySet<bigint> = new Set();
  let hiddenOf: 'all' | 'followed' = 'all';
  let choking: ReadonlySet<bigint> = new Set();
  return {
    drop: () => endAll(status.UNAVAILABLE, 'the server is going down'),
    limit: (words) => {
      limited = words;
      if (words !== null) endAll(status.RESOURCE_EXHAUSTED, words);
    },
    limited: () => limited,
    stall: (on) => {
      stalled = on;
    },
    stalled: (isOfAddresses) => stalled === true || (stalled === 'followed' && isOfAddresses),
    scramble: (next) => {
      random = next;
    },
    hide: (slots, of = 'all') => {
      hidden = slots;
      hiddenOf = of;
    },
    hidden: (slot, isOfAddresses) => hidden.has(slot) && (hiddenOf === 'all' || isOfAddresses),
    choke: (slots) => {
      choking = slots;
    },
    chokes: (slot) => choking.has(slot),
    mixInDeadVersion: (next) => {
      mixing = next;
      mixed = { ghosts: 0, lost: 0 };
    },
    mixedIn: () => mixed,
    remake: (seed) => {
      remade = seed;
    },
    deadVersion: (ledger, block) => (remade === null ? null : deadVersion(ledger, block, remade)),
    lose: (seed) => {
      losing = seed;
    },
    blockAsSent: (block) => (losing === null ? block : lossy(block, losing)),
    spoil: (next) => {
      spoiling = next;
    },
    sendOddities: (next) => {
      odd = next;
    },
    noise: (of, slot) => {
      noisy = slot === null ? null : { of, slot };
    },
    oddities: (block) => [
      ...(noisy === null ? [] : [noise(noisy)]),
      ...(odd === null ? [] : oddities(block, odd)),
    ],
    transactions: (block, encoded) => {
      const all = mixing === null ? encoded : withGhosts(block, encoded, mixing, mixed);
      return spoiling === null ? all : withSpoilt(all, spoiling);
    },
    shape: (bytes) => (random !== null && random() < 0.3 ? [bytes, bytes] : [bytes]),
    order: (updates) => {
      const next = random;
      if (next === null) return updates;
      return updates
        .map((update) => ({ update, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ update }) => update);
    },
  };
}

const SPOILT = 0.1;

function withSpoilt(encoded: readonly EncodedTransaction[], next: () => number): EncodedTransaction[] {
  return encoded.map((one) => {
    if (next() >= SPOILT) return one;
    const how = SPOILS[Math.floor(next() * SPOILS.length)];
    return how === undefined ? one : spoilt(one, how);
  });
}

const GHOSTS = 0.05;
const LOSSES = 0.05;

function withGhosts(
  block: Block,
  encoded: readonly EncodedTransaction[],
  next: () => number,
  mixed: MixedIn,
): EncodedTransaction[] {
  const isLost = block.transactions.map(() => next() < LOSSES);
  const more = block.transactions.filter(() => next() < GHOSTS);
  mixed.lost += block.transactions.filter(({ ours }, at) => ours && isLost[at]).length;
  mixed.ghosts += more.filter(({ ours }) => ours).length;
  const ghosts = more.map((tx) =>
    encodeTransaction(block, { ...tx, signature: tx.signature.map((byte) => byte ^ 0x55) }),
  );
  return [...encoded.filter((_, at) => !isLost[at]), ...ghosts];
}
