/** How the node behaves beside answering; all of it may be changed while it runs. */
export interface RpcManners {
  /** Slots by which each node of the pool is behind; they answer in turn. */
  pool: readonly number[];
  /** Slots by which the address index is behind its node. */
  indexBehind: number;
  /** Every request of so many milliseconds is answered 429, again and again. Null: none. */
  limited: { everyMs: number; forMs: number } | null;
  /** One in so many replies breaks off in the middle; 0 is none. */
  cutOneIn: number;
  /** Transactions, by base58 signature, that are answered with null though they exist; with how often, each. */
  withheld: Spell | null;
  /** Likewise those that come without their meta. */
  bare: Spell | null;
  /** Neither logs nor inner instructions are recorded. */
  unrecorded: boolean;
  /** What was before this slot is not kept. */
  firstBlock: bigint | null;
  /** Nor these slots, both ends included: it began again from a snapshot behind them. */
  jumped: { fromSlot: bigint; toSlot: bigint } | null;
  /** Nor what is further behind the tip than so many slots. */
  keeps: bigint | null;
  /** Some transactions are of version 1: told to those who take it, refused to others. */
  versionOne: boolean;
  /** The highest maxSupportedTransactionVersion that is taken. */
  mostVersion: number;
  /** A list marks one transaction in so many as failed that did not, or the other way round, the same ones always; 0: none. */
  mismarkedOneIn: number;
  /** No block time is known. */
  withoutTimes: boolean;
  /** Methods that it does not have. */
  lacks: readonly string[];
  /** Whether it lists a program's accounts: all, those that a filter names, or none, which it says or which times out. */
  scans: 'any' | 'filtered' | 'none' | 'silent';
  /** Of a list of accounts one in so many is left out, the same ones always; 0: none. */
  unlistedOneIn: number;
  /** Most accounts that it reads at once, and most signatures that it lists. */
  mostAccounts: number;
  mostSignatures: number;
}

/** The first slot that is kept; null where all are. */
export function firstKept({ firstBlock, keeps }: RpcManners, tip: bigint): bigint | null {
  if (keeps === null || tip <= keeps) return firstBlock;
  return firstBlock !== null && firstBlock > tip - keeps ? firstBlock : tip - keeps;
}

export function isKept({ firstBlock, jumped }: RpcManners, slot: bigint): boolean {
  if (firstBlock !== null && slot < firstBlock) return false;
  return jumped === null || slot < jumped.fromSlot || slot > jumped.toSlot;
}

/** What befalls some transactions, each so often. */
export interface Spell {
  befalls(signature: string): boolean;
  times: number;
}

export const POLITE: RpcManners = {
  pool: [0],
  indexBehind: 0,
  limited: null,
  cutOneIn: 0,
  withheld: null,
  bare: null,
  unrecorded: false,
  firstBlock: null,
  jumped: null,
  keeps: null,
  versionOne: false,
  mostVersion: 1,
  mismarkedOneIn: 0,
  withoutTimes: false,
  lacks: [],
  scans: 'any',
  unlistedOneIn: 0,
  mostAccounts: 100,
  mostSignatures: 1_000,
};

/** One in so many, the same ones always. */
export const isOneIn = (share: number, name: string): boolean =>
  Buffer.from(name).reduce((sum, byte) => sum + byte, 0) % share === 0;

const oneIn = (share: number, times: number): Spell => ({
  befalls: (signature) => isOneIn(share, signature),
  times,
});

/** Bad manners by name, as they are seen on public nodes. */
export const RPC_MANNERS = {
  pool: { pool: [0, 17, 40] },
  'late-index': { indexBehind: 12 },
  limits: { limited: { everyMs: 20_000, forMs: 2_000 } },
  'long-limits': { limited: { everyMs: 240_000, forMs: 120_000 } },
  cut: { cutOneIn: 7 },
  withheld: { withheld: oneIn(11, 2) },
  bare: { bare: oneIn(13, 2) },
  'version-1': { versionOne: true },
  'old-node': { mostVersion: 0 },
  mismarked: { mismarkedOneIn: 5 },
  'no-times': { withoutTimes: true },
  frugal: { scans: 'filtered', mostAccounts: 5, mostSignatures: 100 },
  unlisted: { scans: 'none' },
  'partial-list': { unlistedOneIn: 3 },
  pruned: { keeps: 100n },
} as const satisfies Record<string, Partial<RpcManners>>;

export type RpcMannersName = keyof typeof RPC_MANNERS;

/** What they take from who asks is not to be had in any other way as long as they last, but by history where it is there. */
export const ALONE: ReadonlySet<RpcMannersName> = new Set([
  'unlisted',
  'partial-list',
  'pruned',
  'long-limits',
]);

/** Several at once. */
export function mannersNamed(names: readonly RpcMannersName[]): Partial<RpcManners> {
  return Object.assign({}, ...names.map((name) => RPC_MANNERS[name]));
}
