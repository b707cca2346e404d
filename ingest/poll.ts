import type { Store } from '../clickhouse/client.ts';
import type { Config } from '../runtime/config.ts';
import { aborted } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/log.ts';
import type { Rpc } from '../runtime/rpc.ts';
import type { LogWriter } from './log/port.ts';

export interface PollOptions {
  config: Config;
  programId: string;
  store: Store;
  log: LogWriter;
  rpc: Rpc;
  logger: Logger;
  signal: AbortSignal;
}

export async function runPollers({ signal }: PollOptions): Promise<void> {
  await aborted(signal);
}
