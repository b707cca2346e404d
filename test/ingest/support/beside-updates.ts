import type { AccountUpdate, Update } from '../../../ingest/stream/geyser/update.ts';

/** Updates as the stream of followed addresses brings them. */

export const account = (slot: bigint, name = 1, value = 0): AccountUpdate => ({
  type: 'account',
  slot,
  address: new Uint8Array(32).fill(name),
  owner: new Uint8Array(32),
  lamports: 1n,
  data: Uint8Array.of(value),
  writeVersion: 1n,
  signature: null,
});

export const meta = (slot: bigint, parent = slot - 1n): Update => ({
  type: 'blockMeta',
  slot,
  parent,
  blockTime: 1_000,
});

export const told = (slot: bigint, state: 'confirmed' | 'dead' = 'confirmed'): Update => ({
  type: 'slot',
  slot,
  parent: null,
  state,
});
