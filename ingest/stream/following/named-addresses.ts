import type { UnreadAccount } from '../../../clickhouse/queries/progress/unread-accounts.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { configAddress, venueAddress } from '../../../schemas/solana/pda.ts';

/** Addresses of accounts of the program that were never read: the configuration's, and those that events name. */
export function namedAddresses(programId: Uint8Array, unread: readonly UnreadAccount[]): string[] {
  const named = unread.flatMap(({ policy, token_account }) => {
    if (token_account === '') return [policy];
    const [of, token] = [decodeKey(policy), decodeKey(token_account)];
    return of === null || token === null ? [] : [encodeBase58(venueAddress(programId, of, token))];
  });
  return [encodeBase58(configAddress(programId)), ...named];
}
