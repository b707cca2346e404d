import type { Store } from '../../../clickhouse/client.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import type { Report } from './report.ts';

/** What every comparison is given. */
export interface AuditContext {
  store: Store;
  /** Null: nothing is compared with the chain. */
  rpc: Rpc | null;
  programId: string;
  /** Nothing of the program is older. */
  startSlot: bigint;
  report: Report;
  signal: AbortSignal;
  /** The pause between two looks at what is being written. */
  pauseMs: number;
  /**
   * How long a state that was read over RPC may take to be read again. The account may have been written before a
   * stream had its address or, where it is read in turns, since its last turn.
   */
  patienceMs: number;
  /** Waits until every slot up to this one is applied; false where the index does not come there in time. */
  caughtUp(slot: bigint): Promise<boolean>;
  /** The slot of the first event of a mint that the chain has and the index has not; null where none is found. */
  firstLost(mint: string, upTo: string | null): Promise<string | null>;
}
