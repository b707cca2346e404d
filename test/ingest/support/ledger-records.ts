import type { Chain } from '../../../devnet/chain/chain.ts';
import { encodeBlock } from '../../../devnet/geyser/encode.ts';
import { readUpdate } from '../../../ingest/stream/geyser/update.ts';
import type { LogRecord } from '../../../schemas/records.ts';

/** A chain's blocks as the records that the stream would send, with a marker behind each slot. */
export function recordsOf(chain: Chain): { accounts: LogRecord[]; transactions: LogRecord[] } {
  const accounts: LogRecord[] = [];
  const transactions: LogRecord[] = [];
  for (let slot = chain.firstSlot + 1n; slot <= chain.tip().slot; slot += 1n) {
    const block = chain.block(slot);
    if (block === null) continue;
    const { parent, blockTime } = block;
    const encoded = encodeBlock(block);
    for (const { bytes } of encoded.accounts) {
      const update = readUpdate(bytes);
      if (update.type !== 'account') continue;
      const { type: _, ...fields } = update;
      accounts.push({ kind: 'account', source: 'stream', blockTime, expected: null, ...fields });
    }
    block.transactions.forEach((tx, index) => {
      const update = readUpdate(encoded.transactions[index]?.bytes as Buffer);
      if (update.type !== 'transaction' || !tx.ours) return;
      const { type: _, ...fields } = update;
      transactions.push({
        kind: 'transaction',
        source: 'stream',
        blockTime,
        order: 0,
        format: 'geyser',
        ...fields,
      });
    });
    const marker: LogRecord = { kind: 'marker', slot, parent, blockTime };
    accounts.push(marker);
    transactions.push(marker);
  }
  return { accounts, transactions };
}
