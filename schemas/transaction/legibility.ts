import { MalformedError } from '../malformed.ts';
import type { TransactionRecord } from '../records.ts';
import { geyserKeys } from './geyser.ts';
import { jsonKeys } from './json.ts';
import { readTransaction } from './transaction.ts';

/**
 * The accounts that a transaction names, read from a payload of which the rest may not be readable; null where it does
 * not hold all of them.
 */
export function namedAccounts({
  format,
  payload,
}: Pick<TransactionRecord, 'format' | 'payload'>): Uint8Array[] | null {
  try {
    return format === 'geyser' ? geyserKeys(payload) : jsonKeys(payload);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return null;
  }
}

/** How much of a transaction can be read: all of it, which accounts it is about, or not even those. */
export function legibility(
  record: Pick<TransactionRecord, 'format' | 'payload'>,
): 'whole' | 'accounts' | 'none' {
  try {
    readTransaction(record);
    return 'whole';
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return namedAccounts(record) === null ? 'none' : 'accounts';
  }
}
