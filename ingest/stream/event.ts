import type { Gap } from '../history/gap.ts';
import type { Verified } from '../verify/verify.ts';
import type { Followed } from './followed-stream/followed-status.ts';
import type { ListStatus } from './sweeps/list-proof.ts';

/** What a person or a metric wants to know of the stream. */
export type StreamEvent =
  | { type: 'released'; slot: bigint; blockTime: number | null; accounts: number; transactions: number }
  | { type: 'late' }
  | { type: 'tip'; slot: bigint }
  | { type: 'connected' }
  | { type: 'disconnected'; reason: string }
  | ({ type: 'followed' } & Followed)
  | ({ type: 'verified' } & Verified)
  /** What became of listing the program's accounts. What was listed is in the log before the marker of `slot`. */
  | { type: 'listed'; listed: ListStatus; slot: bigint }
  | { type: 'gap'; gap: Gap; open: boolean }
  /** Which addresses of SOLANA_RPC_URL, counted from 1, are of another chain. */
  | { type: 'compared'; others: readonly number[]; addresses: number }
  /** What history waits for, told repeatedly; null: it goes on. */
  | { type: 'stalled'; reason: string | null };
