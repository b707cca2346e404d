import { kitEncode } from '../../../schemas/support/kit-codecs.ts';
import { key, rawKey } from './records.ts';

/** A policy as the chain holds it, zeros behind its fields. */
export function policyBytes(change: Record<string, unknown> = {}): Uint8Array {
  const data = new Uint8Array(619);
  data.set(
    kitEncode('Policy', {
      mint: key('mint'),
      quoteMint: key('quote'),
      feeKeyMint: key('fee key'),
      authority: key('authority'),
      agent: '11111111111111111111111111111111',
      guardian: key('guardian'),
      origin: key('origin'),
      originId: 2,
      mode: 0,
      modelId: 3,
      toLpBps: 4000,
      toBankrollBps: 6000,
      profitToLpBps: 2000,
      profitToHoldersBps: 3000,
      profitToBankrollBps: 5000,
      risk: 80,
      targetAsset: key('target'),
      targetLeverageX: 3,
      locked: true,
      paused: false,
      feesClaimed: 1n,
      protocolFees: 2n,
      routedToLp: 3n,
      routedToBankroll: 4n,
      profitSwept: 5n,
      paidToHolders: 6n,
      tokensBurned: 7n,
      creditSpent: 8n,
      hwm: (1n << 64n) - 1n,
      venueCount: 1,
      createdAt: 1_790_000_000n,
      bump: 255,
      ...change,
    }),
  );
  return data;
}

/** A token account of the classic program. */
export function tokenBytes(
  amount: bigint,
  { mint = 'mint', owner, state = 1 }: { mint?: string; owner?: string; state?: number } = {},
): Uint8Array {
  const data = Buffer.alloc(165);
  data.set(rawKey(mint), 0);
  if (owner !== undefined) data.set(rawKey(owner), 32);
  data.writeBigUInt64LE(amount, 64);
  data[108] = state;
  return data;
}
