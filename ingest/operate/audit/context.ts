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
  /** Between two looks at what is being written. */
  pauseMs: number;
  /**
   * What was read over RPC may have been written before a stream had its address; what is read in turns, since its last.
   * It is given so long to be read again.
   */
  patienceMs: number;
  /** Waits until every slot up to this one is applied; false where the index does not come there in time. */
  caughtUp(slot: bigint): Promise<boolean>;
  /** The slot of the first event of a mint that the chain has and the index has not; null where none is found. */
  firstLost(mint: string, upTo: string | null): Promise<string | null>;
}
