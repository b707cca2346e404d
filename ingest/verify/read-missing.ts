import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { UnseenRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { LogWriter } from '../log/port.ts';
import type { FoundAgain } from './accounts-again.ts';
import type { OpenSlots } from './open-slots.ts';
import type { Difference, PlacedTransaction } from './verify-window.ts';
import type { ReadOne } from './window-reader.ts';

export interface MissingOptions {
  log: Pick<LogWriter, 'append'>;
  missing: Difference<PlacedTransaction>['missing'];
  /** All that is compared: what the chain lists of the window, without slots that gaps keep open; newest first. */
  listed: readonly SignatureInfo[];
  open: OpenSlots | undefined;
  again: FoundAgain;
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
export async function readMissing(options: MissingOptions, read: ReadOne): Promise<number> {
  const { log, missing, listed, open, again, toSlot } = options;
  const isMissing = new Set(missing.map(({ info }) => info.signature));
  const wasUnheard = (info: SignatureInfo) => open?.wasUnheard(info) ?? false;
  // Transactions that are stored since their slot was closed: what they wrote was told to nobody yet.
  const since = listed.filter((info) => wasUnheard(info) && !isMissing.has(info.signature));
  let mended = 0;
  for (const { info, unheard } of [...missing, ...since.map((one) => ({ info: one, unheard: true }))]) {
    const record = await read(info);
    if (record === null && unheard) {
      open?.unheard(info);
      // Which accounts it wrote is not known.
      again.all();
    }
    if (record === null) continue;
    const leftOut = unheard || wasUnheard(info) ? again.leftOut(record) : [];
    // Appended first: once the transaction is stored, nothing shows any more that the stream had not brought it.
    if (leftOut.length > 0) await log.append(leftOut.map((address) => unseenRecord(address, info.slot)));
    if (isMissing.has(info.signature)) await log.append([record]);
    mended += 1;
    again.ask(toSlot, MANY);
  }
  return mended;
}

const unseenRecord = (address: string, slot: bigint): UnseenRecord => ({
  ...{ kind: 'unseen', address: decodeKey(address) as Uint8Array, slot },
});
