import type { Store } from '../../../clickhouse/client.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { Progress } from '../../../runtime/process/progress.ts';
import type { KafkaClient } from '../../log/kafka/cluster.ts';

/** What every kind of replay works with. */
export interface ReplayContext {
  /** The database that CLICKHOUSE_URL names. */
  home: Store;
  /** Opens another database on the same server, which is created where it is missing. */
  openDatabase(name: string): Promise<Store>;
  cluster: string | null;
  kafka: KafkaClient;
  /** Of the log's topics. */
  prefix: string;
  programId: Uint8Array;
  logger: Logger;
  signal: AbortSignal;
  /** Tells a person a sentence. */
  say(sentence: string): void;
  progress: Progress;
}
