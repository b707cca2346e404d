import { accountType, decodeAccount } from '../schemas/accounts.ts';
import { decodeKey, encodeBase58 } from '../schemas/base58.ts';
import { decodePool, isPool } from '../schemas/launchpad.ts';
import { MalformedError } from '../schemas/malformed.ts';
import { configAddress, policyTokenAccounts, poolAddress } from '../schemas/pda.ts';
import type { AccountRecord, ExpectedAccount } from '../schemas/records.ts';
import { decodeMint, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, tokenProgramKind } from '../schemas/token.ts';

/** The addresses that the stream follows beyond what the program owns, and what stands at each. */
export interface Following {
  /** Learns from a state what else to follow; answers the addresses that are new, base58. */
  learn(record: AccountRecord): string[];
  /** Follows an address that is known from before. */
  add(address: string, expected: ExpectedAccount): void;
  expectedAt(address: Uint8Array): ExpectedAccount | null;
  addresses(): string[];
  size(): number;
}

/** @param launchpad the launchpad's program until ProtocolConfig names another. */
export function createFollowing(programId: Uint8Array, launchpad: Uint8Array): Following {
  const known = new Map<string, ExpectedAccount>();
  const pairs = new Map<string, [base: Uint8Array, quote: Uint8Array]>();
  let launchpadProgram = launchpad;

  const follow = (found: string[], address: Uint8Array, expected: ExpectedAccount) => {
    const text = encodeBase58(address);
    if (known.has(text)) return;
    known.set(text, expected);
    found.push(text);
  };

  const learnProgram = (record: AccountRecord, found: string[]) => {
    if (accountType(record.data) === null) return;
    const account = decodeAccount(record.data);
    // An owner filter does not show a closing: the program's own accounts are followed by address too.
    follow(found, record.address, 'program');
    if (account.type === 'Policy') {
      const { mint, quoteMint } = account;
      const tokens = policyTokenAccounts(programId, record.address);
      for (const token of Object.values(tokens)) follow(found, token, 'token_account');
      follow(found, mint, 'mint');
      follow(found, quoteMint, 'mint');
      pairs.set(encodeBase58(record.address), [mint.slice(), quoteMint.slice()]);
      follow(found, poolAddress(launchpadProgram, mint, quoteMint), 'pool');
    }
    if (account.type === 'VenueAccount') {
      follow(found, account.assetMint, 'mint');
      if (account.kind === 'Local') follow(found, account.tokenAccount, 'token_account');
    }
    if (
      account.type === 'ProtocolConfig' &&
      Buffer.compare(account.launchpadProgram, launchpadProgram) !== 0
    ) {
      if (Buffer.compare(record.address, configAddress(programId)) !== 0) return;
      launchpadProgram = account.launchpadProgram.slice();
      for (const [base, quote] of pairs.values())
        follow(found, poolAddress(launchpadProgram, base, quote), 'pool');
    }
  };

  return {
    add: (address, expected) => void known.set(address, expected),
    expectedAt: (address) => known.get(encodeBase58(address)) ?? null,
    addresses: () => [...known.keys()],
    size: () => known.size,
    learn: (record) => {
      const found: string[] = [];
      if (record.lamports === 0n) return found;
      try {
        if (Buffer.compare(record.owner, programId) === 0) learnProgram(record, found);
        else if (isPool(record.data)) follow(found, decodePool(record.data).globalConfig, 'curve_config');
        else if (isMint(record)) {
          const { metadataPointer } = decodeMint(record.data, record.address);
          if (metadataPointer !== null) follow(found, metadataPointer, 'metadata');
        }
      } catch (error) {
        // The materialiser keeps it as a dead letter; there is nothing to learn from it.
        if (!(error instanceof MalformedError)) throw error;
      }
      return found;
    },
  };
}

const TOKEN_PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((text) => decodeKey(text) as Uint8Array);

function isMint(record: AccountRecord): boolean {
  return (
    TOKEN_PROGRAMS.some((program) => Buffer.compare(record.owner, program) === 0) &&
    tokenProgramKind(record.data) === 'mint'
  );
}
