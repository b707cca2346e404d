import { RPC_MANNERS, type RpcMannersName, WITHHOLDING_MANNERS } from '../../devnet/rpc/manners.ts';

/** Manners that are never drawn together: an old node would answer no transaction of version 1. */
const APART: readonly [RpcMannersName, RpcMannersName] = ['version-1', 'old-node'];

/** Draws manners at random that one node may have together. */
export function drawnManners(random: { chance(share: number): boolean }): RpcMannersName[] {
  const all = (Object.keys(RPC_MANNERS) as RpcMannersName[]).filter((name) => !WITHHOLDING_MANNERS.has(name));
  const names = all.filter(() => random.chance(0.4));
  const [first, second] = APART;
  return names.includes(first) ? names.filter((name) => name !== second) : names;
}
