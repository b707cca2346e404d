import { MalformedError } from '../../../schemas/malformed.ts';
import { accountType, decodeAccount } from '../../../schemas/program/accounts.ts';
import type { AccountRecord, ExpectedAccount } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { decodePool, isPool } from '../../../schemas/solana/launchpad.ts';
import { configAddress, policyTokenAccounts, poolAddress } from '../../../schemas/solana/pda.ts';
import {
  decodeMint,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  tokenProgramKind,
} from '../../../schemas/solana/token.ts';

/** The addresses that the stream follows beyond what the program owns, and what stands at each. */
export interface FollowedAddresses {
  /** Learns from a state what else to follow; answers the addresses that are new, base58. */
  learn(record: AccountRecord): string[];
  /** Follows an address that is known from before. False where it was followed already. */
  add(address: string, expected: ExpectedAccount): boolean;
  expectedAt(address: Uint8Array): ExpectedAccount | null;
  /** What matters most comes first: the balances, then what is priced, then what hardly changes. */
  addresses(): string[];
  /** Where the metadata of followed mints stand outside of them: chosen by whoever made the mint, never streamed. */
  metadataAddresses(): string[];
  size(): number;
}

/** Where a provider takes few addresses, those further down are read over RPC. */
const ORDER: Record<ExpectedAccount, number> = {
  token_account: 0,
  pool: 1,
  curve_config: 2,
  mint: 3,
  metadata: 4,
  program: 5,
};

const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

/** @param launchpad the launchpad's program until ProtocolConfig names another. */
export function createFollowedAddresses(programId: Uint8Array, launchpad: Uint8Array): FollowedAddresses {
  /** By address, latin1 of its bytes: ten times cheaper than base58 for every update. */
  const known = new Map<string, ExpectedAccount>();
  /** Accounts whose addresses of interest can never change, and were learned. */
  const learned = new Set<string>();
  const pairs = new Map<string, [base: Uint8Array, quote: Uint8Array]>();
  /** By mint: one each. */
  const pointers = new Map<string, string>();
  let launchpadProgram = launchpad;

  const follow = (found: string[], address: Uint8Array, expected: ExpectedAccount) => {
    const key = latin1(address);
    if (known.has(key)) return;
    known.set(key, expected);
    found.push(encodeBase58(address));
  };

  const learnProgram = (record: AccountRecord, found: string[]) => {
    if (accountType(record.data) === null) return;
    const account = decodeAccount(record.data);
    // An owner filter does not show a closing: the program's own accounts are followed by address too.
    follow(found, record.address, 'program');
    if (account.type !== 'ProtocolConfig') learned.add(latin1(record.address));
    if (account.type === 'Policy') {
      const { mint, quoteMint } = account;
      const tokens = policyTokenAccounts(programId, record.address);
      for (const token of Object.values(tokens)) follow(found, token, 'token_account');
      follow(found, mint, 'mint');
      follow(found, quoteMint, 'mint');
      pairs.set(latin1(record.address), [mint.slice(), quoteMint.slice()]);
      follow(found, poolAddress(launchpadProgram, mint, quoteMint), 'pool');
    }
    if (account.type === 'VenueAccount') {
      follow(found, account.assetMint, 'mint');
      if (account.kind === 'Local') follow(found, account.tokenAccount, 'token_account');
    }
    if (account.type === 'ProtocolConfig' && !same(account.launchpadProgram, launchpadProgram)) {
      if (!same(record.address, configAddress(programId))) return;
      launchpadProgram = account.launchpadProgram.slice();
      for (const [base, quote] of pairs.values()) {
        follow(found, poolAddress(launchpadProgram, base, quote), 'pool');
      }
    }
  };

  const isPoolOf = (record: AccountRecord): boolean => {
    if (known.get(latin1(record.address)) !== 'pool' || !isPool(record.data)) return false;
    const { baseMint, quoteMint } = decodePool(record.data);
    return same(poolAddress(record.owner, baseMint, quoteMint), record.address);
  };

  return {
    add: (address, expected) => {
      // Its mint says where it is once the mint is read.
      if (expected === 'metadata') return false;
      const key = latin1(decodeKey(address) as Uint8Array);
      if (known.has(key)) return false;
      known.set(key, expected);
      return true;
    },
    expectedAt: (address) => known.get(latin1(address)) ?? null,
    metadataAddresses: () =>
      [...new Set(pointers.values())]
        .filter((key) => !known.has(key))
        .map((key) => encodeBase58(Buffer.from(key, 'latin1'))),
    addresses: () =>
      [...known]
        .sort(([, a], [, b]) => ORDER[a] - ORDER[b])
        .map(([key]) => encodeBase58(Buffer.from(key, 'latin1'))),
    size: () => known.size,
    learn: (record) => {
      const found: string[] = [];
      const { address, data } = record;
      // A closed account may stand there again later, as another one.
      if (record.lamports === 0n) {
        learned.delete(latin1(address));
        pointers.delete(latin1(address));
      }
      if (record.lamports === 0n || learned.has(latin1(address))) return found;
      try {
        if (same(record.owner, programId)) learnProgram(record, found);
        else if (isPoolOf(record)) follow(found, decodePool(data).globalConfig, 'curve_config');
        else if (known.get(latin1(address)) === 'mint' && isMint(record)) {
          const { metadataPointer } = decodeMint(data, address);
          if (metadataPointer === null) pointers.delete(latin1(address));
          else pointers.set(latin1(address), latin1(metadataPointer));
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
    TOKEN_PROGRAMS.some((program) => same(record.owner, program)) && tokenProgramKind(record.data) === 'mint'
  );
}
