import { BESIDE_MODES, REPLAYS } from '../../devnet/geyser/modes.ts';
import { createRandom, type Random } from '../../devnet/program/state/random.ts';
import { RPC_MANNERS, type RpcMannersName } from '../../devnet/rpc/manners.ts';
import { drawnManners } from '../support/drawn-manners.ts';

/** A proxy whose connections can be harmed; a number is that of the broker at that place in the cluster. */
export type Place = 'geyser' | 'clickhouse' | 0 | 1 | 2;

export type Fault =
  | { kind: 'kill'; who: string }
  | { kind: 'freeze'; who: string }
  | { kind: 'rebalance' }
  | { kind: 'kill-broker'; broker: number }
  | { kind: 'freeze-broker'; broker: number }
  | { kind: 'kill-clickhouse' }
  | { kind: 'kill-postgres' }
  | { kind: 'refuse-clickhouse' }
  | { kind: 'cut'; place: Place }
  | { kind: 'delay'; place: Place; millis: number }
  /** The stream's provider has other modes, in the words of the local chain's --provider. */
  | { kind: 'provider'; modes: string }
  /** The node has these manners, in the words of the local chain's --rpc-manners. */
  | { kind: 'node'; manners: string }
  /** Some updates of the stream say nothing or nothing true (`oddities`), or cannot be read (`spoilt`). */
  | { kind: 'stream'; brings: 'oddities' | 'spoilt'; seed: string };

export interface Planned {
  fault: Fault;
  /** When it begins, after the beginning of the plan. */
  atMs: number;
  /** How long it lasts before it is healed. */
  forMs: number;
}

export interface PlanOptions {
  durationMs: number;
  /** Factor on the lengths of faults and of the calm between them; 1 for a nightly run. */
  scale: number;
  /** Providers change their manners too. */
  providers?: boolean;
}

interface Choice {
  fault(random: Random): Fault;
  /** Seconds, from and to. */
  lasts: readonly [number, number];
}

const ACTORS = ['ingest', 'materialise-1', 'materialise-2', 'api-1', 'api-2'];
const PLACES: readonly Place[] = ['geyser', 'clickhouse', 0, 1, 2];

/** Faults of the product's own processes, one at a time. */
const INSIDE: readonly Choice[] = [
  ...ACTORS.map((who): Choice => ({ fault: () => ({ kind: 'kill', who }), lasts: [0, 5] })),
  { fault: (random) => ({ kind: 'freeze', who: random.pick(ACTORS) }), lasts: [5, 20] },
  { fault: () => ({ kind: 'rebalance' }), lasts: [8, 20] },
];

/** Faults of the servers that they depend on, one at a time, beside those of the other rows. */
const OUTSIDE: readonly Choice[] = [
  { fault: (random) => ({ kind: 'kill-broker', broker: random.int(0, 2) }), lasts: [3, 15] },
  { fault: (random) => ({ kind: 'freeze-broker', broker: random.int(0, 2) }), lasts: [12, 20] },
  { fault: () => ({ kind: 'kill-clickhouse' }), lasts: [1, 8] },
  { fault: () => ({ kind: 'refuse-clickhouse' }), lasts: [15, 60] },
  { fault: () => ({ kind: 'kill-postgres' }), lasts: [0, 0] },
  ...PLACES.map((place): Choice => ({ fault: () => ({ kind: 'cut', place }), lasts: [0, 0] })),
  {
    fault: (random) => ({ kind: 'delay', place: random.pick(PLACES), millis: random.int(20, 300) }),
    lasts: [5, 15],
  },
];

const provider =
  (lasts: Choice['lasts']) =>
  (modes: string): Choice => ({ fault: () => ({ kind: 'provider', modes }), lasts });

/** Modes of the stream's provider, one at a time; most also end streams (`lag`), as they matter at a reconnect. */
const PROVIDERS: readonly Choice[] = [
  ...[
    ...REPLAYS.filter((replay) => replay !== 'kept').map((replay) => `replay=${replay},lag=3000`),
    ...['late,lag=2000', 'servers=3,lag=1500', 'named=1,addresses=40,lag=3000', 'addresses=0,lag=3000'],
    ...['addresses=60,terse,lag=3000', 'requestBytes=4000,lag=3000', 'nameless,lag=3000'],
    ...['streams=1,lag=3000', 'streams=1,newest', 'parentless'],
  ].map(provider([6, 12])),
  // Longer, as a silent stream is given up after half a minute.
  ...[
    'pings',
    ...BESIDE_MODES.filter((beside) => beside !== 'taken').map((beside) => `beside=${beside}`),
  ].map(provider([32, 42])),
];

const MANNERS = Object.keys(RPC_MANNERS) as RpcMannersName[];
const BRINGS = ['oddities', 'spoilt'] as const;

/** Manners of the node, alone and together, and what the stream may bring meanwhile. */
const NODES: readonly Choice[] = [
  ...MANNERS.map((manners): Choice => ({ fault: () => ({ kind: 'node', manners }), lasts: [5, 20] })),
  ...[1, 2, 3].map(
    (): Choice => ({
      fault: (random) => ({
        kind: 'node',
        manners: drawnManners(random).join(),
      }),
      lasts: [10, 30],
    }),
  ),
  ...BRINGS.map(
    (brings): Choice => ({
      fault: (random) => ({ kind: 'stream', brings, seed: String(random.int(0, 1_000_000)) }),
      lasts: [5, 15],
    }),
  ),
];

const CALM_S: readonly [number, number] = [1, 5];

/** The faults of a seed, in the order in which they begin: several rows of them run side by side. */
export function planFaults(seed: string, options: PlanOptions): Planned[] {
  return [
    ...planRow(createRandom(`chaos:inside:${seed}`), INSIDE, options),
    ...planRow(createRandom(`chaos:outside:${seed}`), OUTSIDE, options),
    ...(options.providers === true
      ? [
          ...planRow(createRandom(`chaos:providers:${seed}`), PROVIDERS, options),
          ...planRow(createRandom(`chaos:nodes:${seed}`), NODES, options),
        ]
      : []),
  ].sort((a, b) => a.atMs - b.atMs);
}

/** Faults of one row, one after the other. Each kind comes once before any comes twice. */
function planRow(random: Random, choices: readonly Choice[], { durationMs, scale }: PlanOptions): Planned[] {
  const between = ([from, to]: readonly [number, number]) =>
    Math.round(random.int(from * 1000, to * 1000) * scale);
  const planned: Planned[] = [];
  let deck: Choice[] = [];
  let atMs = between(CALM_S);
  for (;;) {
    if (deck.length === 0) deck = [...choices];
    const [choice] = deck.splice(random.int(0, deck.length - 1), 1) as [Choice];
    const forMs = between(choice.lasts);
    if (atMs + forMs > durationMs) return planned;
    planned.push({ fault: choice.fault(random), atMs, forMs });
    atMs += forMs + between(CALM_S);
  }
}

/** Describes a fault in a line of output. */
export function wordsOf({ fault, atMs, forMs }: Planned): string {
  const { kind, ...rest } = fault;
  const about = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return `${(atMs / 1000).toFixed(1)} s: ${[kind, ...about].join(' ')}, for ${(forMs / 1000).toFixed(1)} s`;
}
