import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { UnseenRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { LogWriter } from '../log/port.ts';
import type { PendingRereads } from './account-rereads.ts';
import type { OpenSlots } from './open-slots.ts';
import type { Difference, PlacedTransaction } from './verify-window.ts';
import type { ReadTransaction } from './window-reader.ts';

export interface MissingOptions {
  log: Pick<LogWriter, 'append'>;
  missing: Difference<PlacedTransaction>['missing'];
  /** All that is compared: what the chain lists of the window, without slots that gaps keep open; newest first. */
  listed: readonly SignatureInfo[];
  open: OpenSlots | undefined;
  again: PendingRereads;
  /** Accounts are read at that slot or later. */
  toSlot: bigint;
}

/** Addresses of a request for accounts. */
const MANY = 100;

/**
 * Appends the missing transactions to the log, and in front of each the accounts that it may have written without the
 * stream bringing that.
 * @returns how many transactions could be read
 * @throws RpcError, HistoryUnavailableError
 */
export async function readMissing(options: MissingOptions, read: ReadTransaction): Promise<number> {
  const { log, missing, listed, open, again, toSlot } = options;
  const isMissing = new Set(missing.map(({ info }) => info.signature));
  const isUnheardOf = (info: SignatureInfo) => open?.mayBeUnheard(info) ?? false;
  // Transactions that are stored since their slot was closed: what they wrote was told to nobody yet.
  const since = listed.filter((info) => isUnheardOf(info) && !isMissing.has(info.signature));
  let mended = 0;
  for (const { info, unheard } of [...missing, ...since.map((one) => ({ info: one, unheard: true }))]) {
    const record = await read(info);
    if (record === null && unheard) {
      open?.rememberUnheard(info);
      // Which accounts it wrote is not known.
      again.addAll();
    }
    if (record === null) continue;
    const written = unheard || isUnheardOf(info) ? again.addWrittenBy(record) : [];
    // Appended first: once the transaction is stored, nothing shows any more that the stream had not brought it.
    if (written.length > 0) await log.append(written.map((address) => unseenRecord(address, info.slot)));
    if (isMissing.has(info.signature)) await log.append([record]);
    mended += 1;
    again.flush(toSlot, MANY);
  }
  return mended;
}

const unseenRecord = (address: string, slot: bigint): UnseenRecord => ({
  ...{ kind: 'unseen', address: decodeKey(address) as Uint8Array, slot },
});
