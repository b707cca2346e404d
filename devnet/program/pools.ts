import { type Call, type Instruction, type Meta, readonly, signer, writable } from './call.ts';
import { curveMaths, lesser, openingReserves } from './curve.ts';
import { found, must } from './errors.ts';
import { seededKey } from './keys.ts';
import { LAUNCHPAD_PROGRAM } from './known-programs.ts';
import { createMint, type NewMint } from './mints.ts';
import type { Key, Pool } from './state.ts';

const FUND = 0;
const MIGRATE = 1;
const TRADE = 2;

/** An instruction of the launchpad; its arguments do not matter to anyone here. */
function launchpad(name: string, tag: number, metas: Meta[]): Instruction {
  const data = Uint8Array.of(tag, 0x4d, 0x1f, 0x88, 0x12, tag, 0x70, 0x01);
  return { program: LAUNCHPAD_PROGRAM, name, data, metas, steps: [] };
}

/** How a launch mint trades; `curveType` is that of the global config. */
export interface NewPool {
  globalConfig: Key;
  creator: Key;
  quoteMint: Key;
  raise: bigint;
}

/** Makes a mint and, unless it is sold elsewhere, its pool: one transaction that the bankroll program is not in. */
export function createLaunch(call: Call, action: { mint: NewMint; pool: NewPool | null }): void {
  const instruction = launchpad('InitializeV2', 1, [
    signer(action.pool?.creator ?? seededKey(`creator:${action.mint.mint}`)),
    writable(action.mint.mint),
  ]);
  call.instruction = instruction;
  const mint = createMint(call, action.mint);
  if (action.pool === null) return;
  const { globalConfig, creator, quoteMint, raise } = action.pool;
  const address = call.addresses.pool(mint.address, quoteMint);
  instruction.metas.push(readonly(globalConfig), writable(address), readonly(quoteMint));
  const { curveType } = found(call.draft.get('curves', globalConfig));
  call.draft.put('pools', {
    address,
    status: FUND,
    baseDecimals: mint.decimals,
    quoteDecimals: found(call.draft.get('mints', quoteMint)).decimals,
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

export function createCurve(call: Call, action: { address: Key; curveType: number; quoteMint: Key }): void {
  call.instruction = launchpad('CreateConfig', 2, [
    signer(seededKey('launchpad-admin')),
    writable(action.address),
  ]);
  const { address, curveType, quoteMint } = action;
  call.draft.put('curves', { address, curveType, quoteMint });
}

function curveOf(call: Call, pool: Pool) {
  return curveMaths(found(call.draft.get('curves', pool.globalConfig)).curveType);
}

/** Buys on the curve for somebody's quote; a pool that has raised enough moves on to Migrate. Answers the base bought. */
export function buyOnCurve(call: Call, address: Key, quoteIn: bigint): bigint {
  const pool = call.draft.edit('pools', address);
  must(pool.status === FUND, 'PoolClosed');
  const left = pool.totalBaseSell - pool.realBase;
  const bought = lesser(curveOf(call, pool).buy(pool, quoteIn), left);
  pool.realBase += bought;
  pool.realQuote += quoteIn;
  if (pool.realQuote >= pool.totalQuoteFundRaising || bought === left) pool.status = MIGRATE;
  return bought;
}

/** Somebody trades on the curve: `amount` is quote for a buy and base for a sell. */
export function tradePool(
  call: Call,
  action: { pool: Key; by: Key; side: 'buy' | 'sell'; amount: bigint },
): void {
  call.instruction = launchpad(action.side === 'buy' ? 'BuyExactIn' : 'SellExactIn', 3, [
    signer(action.by),
    writable(action.pool),
    writable(seededKey(`pool-vault:${action.pool}`)),
  ]);
  if (action.side === 'buy') {
    found(call.draft.get('pools', action.pool));
    buyOnCurve(call, action.pool, action.amount);
    return;
  }
  const current = found(call.draft.get('pools', action.pool));
  must(current.status === FUND, 'PoolClosed');
  must(current.realBase >= action.amount, 'InsufficientFunds');
  const pool = call.draft.edit('pools', action.pool);
  const out = curveOf(call, pool).sell(pool, action.amount);
  pool.realBase -= action.amount;
  pool.realQuote -= lesser(out, pool.realQuote);
}

/** Moves a pool's liquidity to the AMM: from Migrate to Trade. */
export function migratePool(call: Call, action: { pool: Key }): void {
  call.instruction = launchpad('MigrateToCpswap', 4, [
    signer(seededKey('launchpad-admin')),
    writable(action.pool),
  ]);
  const status = call.draft.get('pools', action.pool)?.status;
  must(status === MIGRATE, 'PoolClosed');
  call.draft.edit('pools', action.pool).status = TRADE;
}

/** Takes a graduated pool's account away. */
export function closePool(call: Call, action: { pool: Key }): void {
  call.instruction = launchpad('ClosePool', 5, [signer(seededKey('launchpad-admin')), writable(action.pool)]);
  must(call.draft.get('pools', action.pool)?.status === TRADE, 'PoolClosed');
  call.draft.remove('pools', action.pool);
}
