import type { Chain } from '../chain/chain.ts';
import { bytesOf } from '../program/state/keys.ts';
import { REMOTE } from '../program/state/state.ts';

const SCALE = 1_000_000n;

/** A decimal with 10 fractional digits, as the venue writes account values. */
function decimal(micro: bigint): string {
  return `${micro / SCALE}.${(micro % SCALE).toString().padStart(6, '0')}0000`;
}

/** The venue's `POST /info`: what its accounts are worth, from what the chain last attested. */
export function perpInfo(chain: Chain, body: unknown): { status: number; body: unknown } {
  const { type, user } = (body ?? {}) as { type?: unknown; user?: unknown };
  if (typeof user !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(user)) {
    return { status: 422, body: 'Failed to deserialize the JSON body into the target type' };
  }
  if (type === 'userAbstraction')
    return { status: 200, body: user.endsWith('0') ? 'unifiedAccount' : 'default' };
  if (type !== 'clearinghouseState') return { status: 422, body: 'unknown variant' };
  const wanted = user.slice(2).toLowerCase();
  let equity = 0n;
  let notional = 0n;
  for (const venue of chain.state().venues.values()) {
    if (venue.kind !== REMOTE) continue;
    if (Buffer.from(bytesOf(venue.remoteAccount)).subarray(12).toString('hex') !== wanted) continue;
    equity += venue.remoteEquity;
    notional += venue.remoteNotional;
  }
  const margin = {
    accountValue: decimal(equity),
    totalNtlPos: decimal(notional),
    totalRawUsd: decimal(equity),
    totalMarginUsed: '0.0',
  };
  return {
    status: 200,
    body: {
      marginSummary: margin,
      crossMarginSummary: { ...margin, accountValue: '0.0' },
      crossMaintenanceMarginUsed: '0.0',
      withdrawable: decimal(equity),
      assetPositions: [],
      time: chain.tip().blockTime * 1000,
    },
  };
}
