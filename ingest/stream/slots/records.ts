import type { AccountRecord, LogRecord, MarkerRecord, TransactionRecord } from '../../../schemas/records.ts';
import type { FollowedAddresses } from '../following/addresses.ts';
import type { AccountUpdate, TransactionUpdate } from '../geyser/update.ts';
import type { SlotsOutput } from './machine.ts';

/**
 * The records of a released slot, its marker last, or of an update that came late.
 * @param learn called with each account record, in order.
 * @param cover what the marker says of followed addresses.
 */
export function recordsOf(
  output: Extract<SlotsOutput, { type: 'released' | 'late' }>,
  learn: (record: AccountRecord) => void,
  following: Pick<FollowedAddresses, 'expectedAt'>,
  cover: Pick<MarkerRecord, 'followed' | 'missed'> = {},
): LogRecord[] {
  if (output.type === 'late') return [recordOf(output.update, output.blockTime, learn, following)];
  const { slot, parent, blockTime, accounts, transactions } = output.slot;
  const records: LogRecord[] = [];
  for (const update of accounts) records.push(recordOf(update, blockTime, learn, following));
  for (const update of transactions) records.push(transactionRecord(update, blockTime));
  records.push({ kind: 'marker', slot, parent, blockTime, ...cover });
  return records;
}

function recordOf(
  update: AccountUpdate | TransactionUpdate,
  blockTime: number | null,
  learn: (record: AccountRecord) => void,
  following: Pick<FollowedAddresses, 'expectedAt'>,
): AccountRecord | TransactionRecord {
  if (update.type === 'transaction') return transactionRecord(update, blockTime);
  const { slot, address, owner, lamports, data, writeVersion, signature, isReading = false } = update;
  const expected = following.expectedAt(address);
  const record: AccountRecord = {
    kind: 'account',
    source: isReading ? 'rpc' : 'stream',
    slot,
    blockTime,
    address,
    owner,
    lamports,
    data,
    writeVersion,
    signature,
    expected,
  };
  learn(record);
  return record;
}

function transactionRecord(update: TransactionUpdate, blockTime: number | null): TransactionRecord {
  const { slot, signature, index, payload, disputed = false } = update;
  return {
    kind: 'transaction',
    source: 'stream',
    slot,
    blockTime,
    signature,
    index,
    order: 0,
    format: 'geyser',
    payload,
    ...(disputed ? { standing: 'disputed' } : {}),
  };
}
