import { MalformedError } from '../../../schemas/malformed.ts';
import { accountType, decodeAccount, modelIdOf } from '../../../schemas/program/accounts.ts';
import type { AccountRecord, ExpectedAccount } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { byteKey, bytesOfKey } from '../../../schemas/solana/byte-key.ts';
import { decodePool, isPool } from '../../../schemas/solana/launchpad.ts';
import {
  configAddress,
  modelAddress,
  policyTokenAccounts,
  poolAddress,
} from '../../../schemas/solana/pda.ts';
import { decodeMint, decodeTokenAccount, tokenKindOf } from '../../../schemas/solana/token.ts';

/**
 * The addresses that are followed beyond what the program owns, and what stands at each. Those that are derived from
 * the program's own addresses are streamed. Those that somebody wrote into an account are read over RPC: the writer may
 * have named any account there is, and must never decide what an address of ours means.
 */
export interface FollowedAddresses {
  programId: Uint8Array;
  /** Learns from a state what else to follow; answers the addresses that are new and to be streamed, base58. */
  learn(record: AccountRecord): string[];
  /** Follows an address that is known from before. False where it was followed already, or is not streamed. */
  add(address: string, expected: ExpectedAccount, named?: boolean): boolean;
  expectedAt(address: Uint8Array): ExpectedAccount | null;
  isStreamed(address: Uint8Array): boolean;
  /** Whether only a venue account says that a balance stands there. */
  isNamed(address: Uint8Array): boolean;
  /**
   * The streamed addresses, base58. What matters most comes first: the balances, then what is priced, then what hardly
   * changes.
   */
  streamed(): readonly string[];
  /** Token accounts that only a venue account calls a policy's. */
  namedBalances(): string[];
  /** Quote assets and what venue accounts hold; a launched token's own mint is streamed. */
  mints(): string[];
  /** Addresses of the metadata of followed mints, where those are not in the mint itself. */
  metadata(): string[];
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

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

/**
 * @param launchpad the launchpad's program until ProtocolConfig names another.
 * @param onNamed called when an address becomes a named balance, and when it stops being one.
 */
export function createFollowedAddresses(
  programId: Uint8Array,
  launchpad: Uint8Array,
  onNamed: (address: string, isNamed: boolean) => void = () => {},
): FollowedAddresses {
  /** The streamed addresses, by byte key. */
  const known = new Map<string, ExpectedAccount>();
  /** The same in base58, in the order of `streamed`; null once another address is known. */
  let listed: string[] | null = null;
  /** Token accounts that only venue accounts name, with the policies of those venue accounts. */
  const balances = new Map<string, Set<string>>();
  const mints = new Set<string>();
  /** Accounts whose addresses of interest are followed by now: of those addresses, only a policy's model can change. */
  const learned = new Set<string>();
  /** Ids of the models that are followed: deriving an address takes long, and policies are written all the time. */
  const models = new Set<number>([0]);
  const pairs = new Map<string, [base: Uint8Array, quote: Uint8Array]>();
  /** Where the metadata of each mint stand, by mint. */
  const pointers = new Map<string, string>();
  let launchpadProgram = launchpad;

  const follow = (found: string[], address: Uint8Array, expected: ExpectedAccount) => {
    const key = byteKey(address);
    if (known.has(key)) return;
    known.set(key, expected);
    listed = null;
    mints.delete(key);
    const text = encodeBase58(address);
    if (balances.delete(key)) onNamed(text, false);
    found.push(text);
  };
  const followMint = (address: Uint8Array) => {
    if (!known.has(byteKey(address))) mints.add(byteKey(address));
  };
  const followBalance = (address: Uint8Array, policy: Uint8Array | null) => {
    const key = byteKey(address);
    if (known.has(key)) return;
    const policies = balances.get(key);
    balances.set(key, (policies ?? new Set()).add(policy === null ? '' : byteKey(policy)));
    if (policies === undefined) onNamed(encodeBase58(address), true);
  };

  const followModel = (found: string[], id: number) => {
    if (models.has(id)) return;
    models.add(id);
    follow(found, modelAddress(programId, id), 'program');
  };

  const learnProgram = (record: AccountRecord, found: string[]) => {
    if (accountType(record.data) === null) return;
    const account = decodeAccount(record.data);
    // An owner filter does not show a closing: the program's own accounts are followed by address too.
    follow(found, record.address, 'program');
    if (account.type !== 'ProtocolConfig') learned.add(byteKey(record.address));
    if (account.type === 'Policy') {
      const { mint, quoteMint, origin, modelId } = account;
      // Origins and models may not be written for years: where no node lists accounts, only this makes them known.
      follow(found, origin, 'program');
      followModel(found, modelId);
      const tokens = policyTokenAccounts(programId, record.address);
      for (const token of Object.values(tokens)) follow(found, token, 'token_account');
      follow(found, mint, 'mint');
      followMint(quoteMint);
      pairs.set(byteKey(record.address), [mint.slice(), quoteMint.slice()]);
      follow(found, poolAddress(launchpadProgram, mint, quoteMint), 'pool');
    }
    if (account.type === 'VenueAccount') {
      followMint(account.assetMint);
      if (account.kind === 'Local') followBalance(account.tokenAccount, account.policy);
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
    if (known.get(byteKey(record.address)) !== 'pool' || !isPool(record.data)) return false;
    const { baseMint, quoteMint } = decodePool(record.data);
    return same(poolAddress(record.owner, baseMint, quoteMint), record.address);
  };

  /**
   * Whether a followed mint stands here. One that was named as a balance counts, too: it is followed as a mint from
   * then on.
   */
  const isFollowedMint = (record: AccountRecord): boolean => {
    const key = byteKey(record.address);
    const isFollowed = known.get(key) === 'mint' || mints.has(key) || balances.has(key);
    return isFollowed && tokenKindOf(record) === 'mint';
  };
  /** Whether a named balance is owned by the policy that it was named for: then it was made for that. */
  const isOfItsPolicy = (record: AccountRecord): boolean => {
    const policies = balances.get(byteKey(record.address));
    if (policies === undefined || tokenKindOf(record) !== 'account') return false;
    return policies.has(byteKey(decodeTokenAccount(record.data).owner));
  };

  return {
    programId,
    add: (address, expected, named = false) => {
      // The mint says where its metadata are once it is read.
      if (expected === 'metadata') return false;
      const bytes = decodeKey(address) as Uint8Array;
      const found: string[] = [];
      if (!named) follow(found, bytes, expected);
      else if (expected === 'mint') followMint(bytes);
      else followBalance(bytes, null);
      return found.length > 0;
    },
    expectedAt: (address) => {
      const key = byteKey(address);
      return known.get(key) ?? (balances.has(key) ? 'token_account' : mints.has(key) ? 'mint' : null);
    },
    isStreamed: (address) => known.has(byteKey(address)),
    isNamed: (address) => balances.has(byteKey(address)),
    streamed: () => {
      listed ??= [...known].sort(([, a], [, b]) => ORDER[a] - ORDER[b]).map(([key]) => base58Of(key));
      return listed;
    },
    namedBalances: () => [...balances.keys()].map(base58Of),
    mints: () => [...mints].map(base58Of),
    metadata: () => [...new Set(pointers.values())].filter((key) => !known.has(key)).map(base58Of),
    size: () => known.size + balances.size + mints.size,
    learn: (record) => {
      const found: string[] = [];
      const { address, data } = record;
      const key = byteKey(address);
      // A closed account may stand there again later, as another one.
      if (record.lamports === 0n) {
        learned.delete(key);
        pointers.delete(key);
        return found;
      }
      try {
        if (learned.has(key)) {
          if (pairs.has(key)) followModel(found, modelIdOf(data));
        } else if (same(record.owner, programId)) learnProgram(record, found);
        else if (isPoolOf(record)) follow(found, decodePool(data).globalConfig, 'curve_config');
        else if (isOfItsPolicy(record)) follow(found, address, 'token_account');
        else if (isFollowedMint(record)) {
          const { metadataPointer } = decodeMint(data, address);
          followMint(address);
          if (metadataPointer === null) pointers.delete(key);
          else pointers.set(key, byteKey(metadataPointer));
        }
      } catch (error) {
        // The materialiser keeps it as a dead letter; there is nothing to learn from it.
        if (!(error instanceof MalformedError)) throw error;
      }
      return found;
    },
  };
}

const base58Of = (key: string) => encodeBase58(bytesOfKey(key));
