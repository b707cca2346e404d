import { found, must } from '../errors.ts';
import {
  type Instruction,
  type InstructionRun,
  type Meta,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import { seededKey } from '../state/keys.ts';
import { LAUNCHPAD_PROGRAM } from '../state/known-programs.ts';
import type { Key, Pool } from '../state/state.ts';
import { curveMaths, lesser, openingReserves } from './curve.ts';
import { createMint, type NewMint } from './mints.ts';

const FUND = 0;
const MIGRATE = 1;
const TRADE = 2;

/** An instruction of the launchpad; its data is made up, since nothing here reads it. */
function launchpad(name: string, tag: number, metas: Meta[]): Instruction {
  const data = Uint8Array.of(tag, 0x4d, 0x1f, 0x88, 0x12, tag, 0x70, 0x01);
  return { program: LAUNCHPAD_PROGRAM, name, data, metas, steps: [] };
}

/** How a launch mint trades; the curve type is that of `globalConfig`. */
export interface NewPool {
  globalConfig: Key;
  creator: Key;
  quoteMint: Key;
  raise: bigint;
}

/** Makes a mint and, unless it is sold elsewhere, its pool, in a transaction without the bankroll program. */
function createLaunch(run: InstructionRun, action: { mint: NewMint; pool: NewPool | null }): void {
  const instruction = launchpad('InitializeV2', 1, [
    signer(action.pool?.creator ?? seededKey(`creator:${action.mint.mint}`)),
    writable(action.mint.mint),
  ]);
  run.instruction = instruction;
  const mint = createMint(run, action.mint);
  if (action.pool === null) return;
  const { globalConfig, creator, quoteMint, raise } = action.pool;
  const address = run.addresses.pool(mint.address, quoteMint);
  instruction.metas.push(readonly(globalConfig), writable(address), readonly(quoteMint));
  const { curveType } = found(run.draft.get('curves', globalConfig));
  run.draft.put('pools', {
    address,
    status: FUND,
    baseDecimals: mint.decimals,
    quoteDecimals: found(run.draft.get('mints', quoteMint)).decimals,
    supply: mint.supply,
    realBase: 0n,
    realQuote: 0n,
    ...openingReserves(curveType, mint.supply, raise),
    globalConfig,
    baseMint: mint.address,
    quoteMint,
    creator,
  });
}

function createCurve(run: InstructionRun, action: { address: Key; curveType: number; quoteMint: Key }): void {
  run.instruction = launchpad('CreateConfig', 2, [
    signer(seededKey('launchpad-admin')),
    writable(action.address),
  ]);
  const { address, curveType, quoteMint } = action;
  run.draft.put('curves', { address, curveType, quoteMint });
}

function curveOf(run: InstructionRun, pool: Pool) {
  return curveMaths(found(run.draft.get('curves', pool.globalConfig)).curveType);
}

/** Buys on the curve; a pool that has raised enough goes to Migrate. @returns the base bought */
export function buyOnCurve(run: InstructionRun, address: Key, quoteIn: bigint): bigint {
  const pool = run.draft.edit('pools', address);
  must(pool.status === FUND, 'PoolClosed');
  const left = pool.totalBaseSell - pool.realBase;
  const bought = lesser(curveOf(run, pool).buy(pool, quoteIn), left);
  pool.realBase += bought;
  pool.realQuote += quoteIn;
  if (pool.realQuote >= pool.totalQuoteFundRaising || bought === left) pool.status = MIGRATE;
  return bought;
}

/** Somebody trades on the curve: `amount` is quote for a buy and base for a sell. */
function tradePool(
  run: InstructionRun,
  action: { pool: Key; by: Key; side: 'buy' | 'sell'; amount: bigint },
): void {
  run.instruction = launchpad(action.side === 'buy' ? 'BuyExactIn' : 'SellExactIn', 3, [
    signer(action.by),
    writable(action.pool),
    writable(seededKey(`pool-vault:${action.pool}`)),
  ]);
  if (action.side === 'buy') {
    found(run.draft.get('pools', action.pool));
    buyOnCurve(run, action.pool, action.amount);
    return;
  }
  const current = found(run.draft.get('pools', action.pool));
  must(current.status === FUND, 'PoolClosed');
  must(current.realBase >= action.amount, 'InsufficientFunds');
  const pool = run.draft.edit('pools', action.pool);
  const out = curveOf(run, pool).sell(pool, action.amount);
  pool.realBase -= action.amount;
  pool.realQuote -= lesser(out, pool.realQuote);
}

/** Moves a pool's liquidity to the AMM: from Migrate to Trade. */
function migratePool(run: InstructionRun, action: { pool: Key }): void {
  run.instruction = launchpad('MigrateToCpswap', 4, [
    signer(seededKey('launchpad-admin')),
    writable(action.pool),
  ]);
  const status = run.draft.get('pools', action.pool)?.status;
  must(status === MIGRATE, 'PoolClosed');
  run.draft.edit('pools', action.pool).status = TRADE;
}

/** Takes a graduated pool's account away. */
function closePool(run: InstructionRun, action: { pool: Key }): void {
  run.instruction = launchpad('ClosePool', 5, [signer(seededKey('launchpad-admin')), writable(action.pool)]);
  must(run.draft.get('pools', action.pool)?.status === TRADE, 'PoolClosed');
  run.draft.remove('pools', action.pool);
}

export const POOL_INSTRUCTIONS = {
  create_curve: createCurve,
  create_launch: createLaunch,
  trade_pool: tradePool,
  migrate_pool: migratePool,
  close_pool: closePool,
};
