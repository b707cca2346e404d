/** In which ways the node misbehaves; all of them may be changed while it runs. */
export interface RpcManners {
  /** By how many slots each node of the pool is behind; the nodes answer in turn. */
  pool: readonly number[];
  /** By how many slots the index of signatures by address is behind its node. */
  indexBehind: number;
  /** At the start of every `everyMs`, all requests are answered 429 for `forMs`. Null: never. */
  limited: { everyMs: number; forMs: number } | null;
  /** One in so many replies breaks off in the middle; 0: none. */
  cutOneIn: number;
  /** Transactions, by base58 signature, that are answered with null though they exist, each its number of times. */
  withheld: Spell | null;
  /** Transactions that are answered without their meta, likewise. */
  bare: Spell | null;
  /** Neither logs nor inner instructions are recorded. */
  unrecorded: boolean;
  /** Blocks before this slot are not kept; null: all are. */
  firstBlock: bigint | null;
  /** These slots are not kept either, both ends included: the node began again from a snapshot behind them. */
  jumped: { fromSlot: bigint; toSlot: bigint } | null;
  /** Blocks further behind the tip than so many slots are not kept either. */
  keeps: bigint | null;
  /** Some transactions are of version 1: answered to requests that accept it, refused to others. */
  versionOne: boolean;
  /** The highest maxSupportedTransactionVersion that requests may give. */
  mostVersion: number;
  /** Lists have the wrong failure mark for one transaction in so many, always the same ones; 0: none. */
  mismarkedOneIn: number;
  /** The node answers null for every block time. */
  withoutTimes: boolean;
  /** Methods that the node does not have. */
  lacks: readonly string[];
  /** Which getProgramAccounts it answers: any, filtered ones, or none; it refuses (`none`) or times out (`silent`). */
  scans: 'any' | 'filtered' | 'none' | 'silent';
  /** One in so many accounts is left out of lists, always the same ones; 0: none. */
  unlistedOneIn: number;
  /** Most accounts in one getMultipleAccounts, and most signatures in one list. */
  mostAccounts: number;
  mostSignatures: number;
}

/** The first slot whose block is kept; null where all are. */
export function firstKept({ firstBlock, keeps }: RpcManners, tip: bigint): bigint | null {
  if (keeps === null || tip <= keeps) return firstBlock;
  return firstBlock !== null && firstBlock > tip - keeps ? firstBlock : tip - keeps;
}

export function isKept({ firstBlock, jumped }: RpcManners, slot: bigint): boolean {
  if (firstBlock !== null && slot < firstBlock) return false;
  return jumped === null || slot < jumped.fromSlot || slot > jumped.toSlot;
}

/** Selects transactions, and how many answers about each of them are affected. */
export interface Spell {
  affects(signature: string): boolean;
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

/** Whether a name is among one in `share`; always the same names are. */
export const isOneIn = (share: number, name: string): boolean =>
  Buffer.from(name).reduce((sum, byte) => sum + byte, 0) % share === 0;

const oneIn = (share: number, times: number): Spell => ({
  affects: (signature) => isOneIn(share, signature),
  times,
});

/** Misbehaviour by name, as it is seen on public nodes. */
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

/** Manners that withhold data which no other request brings while they last; only history may, where it is kept. */
export const WITHHOLDING_MANNERS: ReadonlySet<RpcMannersName> = new Set([
  'unlisted',
  'partial-list',
  'pruned',
  'long-limits',
]);

/** Several manners at once. */
export function mannersNamed(names: readonly RpcMannersName[]): Partial<RpcManners> {
  return Object.assign({}, ...names.map((name) => RPC_MANNERS[name]));
}
