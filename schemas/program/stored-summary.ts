import { encodeBase58 } from '../solana/base58.ts';
import type { KnownEvent, Summary } from './events.ts';
import { summaryOf } from './events.ts';

/**
 * The key of the token accounts of an event that stands for the registration of several venue accounts. Activity shows
 * none of them; the search for accounts that were never read needs each.
 */
export const TOKEN_ACCOUNTS = 'tokenAccounts';

/** What is stored of an event beside its amounts: JSON. */
export function storedSummary(
  event: Pick<KnownEvent, 'event' | 'fields'>,
  registered: readonly Uint8Array[] = [],
): string {
  const summary = summaryOf(event);
  if (registered.length === 0) return JSON.stringify(summary);
  return JSON.stringify({ ...summary, [TOKEN_ACCOUNTS]: registered.map(encodeBase58) });
}

interface Stored {
  tokenAccount?: string;
  [TOKEN_ACCOUNTS]?: string[];
}

/** What activity shows of a stored summary. */
export function shownSummary(stored: string): Summary {
  const { [TOKEN_ACCOUNTS]: _, ...summary } = JSON.parse(stored) as Summary & Stored;
  return summary;
}

/** The token accounts of the venue accounts that an event registers, out of its stored summary. */
export function registeredIn(stored: string): string[] {
  const { tokenAccount, [TOKEN_ACCOUNTS]: several } = JSON.parse(stored) as Stored;
  return several ?? (tokenAccount === undefined ? [] : [tokenAccount]);
}
