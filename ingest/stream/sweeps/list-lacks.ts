import { MalformedError } from '../../../schemas/malformed.ts';
import { accountType, decodeAccount, type ProgramAccount } from '../../../schemas/program/accounts.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { modelAddress } from '../../../schemas/solana/pda.ts';

/** What a list of the program's accounts lacks by its own contents. */
export interface ListLacks {
  /** Accounts of the program that listed ones name, base58. */
  named: Set<string>;
  /**
   * Number of policies that count more venue accounts than are listed of them; 0 where listed ones that do not decode
   * may be those.
   */
  short: number;
}

/**
 * Whether the account exists and every list of the program's accounts has to have it. Anybody can make accounts of
 * zeros and give them to the program: a list by first bytes has none of those, and no account that the program made
 * begins so.
 */
export const belongsInList =
  (programId: Uint8Array) =>
  ({ owner, lamports, data }: AccountRecord): boolean =>
    lamports > 0n && Buffer.compare(owner, programId) === 0 && accountType(data) !== null;

/** Finds what a list lacks: it may be cut, or come from an index that is behind, and look like a whole one. */
export function lacksOf(programId: Uint8Array, listed: readonly AccountRecord[]): ListLacks {
  const found = new Set<string>();
  const named = new Set<string>();
  const models = new Set<number>();
  const venues = new Map<string, number>();
  const counts: [policy: string, venues: number][] = [];
  /** Venue accounts that do not decode, so that nobody can say whose they are. */
  let undecoded = 0;
  for (const record of listed) {
    const address = encodeBase58(record.address);
    found.add(address);
    const account = decoded(record.data);
    if (account?.type === 'Policy') {
      named.add(encodeBase58(account.origin));
      if (account.modelId > 0) models.add(account.modelId);
      counts.push([address, account.venueCount]);
    }
    if (account === null && accountType(record.data) === 'VenueAccount') undecoded += 1;
    if (account?.type === 'VenueAccount') {
      const policy = encodeBase58(account.policy);
      named.add(policy);
      if (!account.revoked) venues.set(policy, (venues.get(policy) ?? 0) + 1);
    }
  }
  for (const id of models) named.add(encodeBase58(modelAddress(programId, id)));
  for (const address of found) named.delete(address);
  const lacking = counts
    .map(([policy, count]) => count - (venues.get(policy) ?? 0))
    .filter((count) => count > 0);
  const all = lacking.reduce((sum, count) => sum + count, 0);
  return { named, short: all <= undecoded ? 0 : lacking.length };
}

function decoded(data: Uint8Array): ProgramAccount | null {
  try {
    return accountType(data) === null ? null : decodeAccount(data);
  } catch (error) {
    // The materialiser keeps it as a dead letter.
    if (error instanceof MalformedError) return null;
    throw error;
  }
}
