import { decodeBase58, decodeKey, encodeBase58 } from '../../schemas/solana/base58.ts';
import type { Ledger, SignatureEntry } from '../chain/ledger.ts';
import { slotWithBlock } from '../chain/slot-with-block.ts';
import { FINALIZED_BEHIND } from '../geyser/subscriber.ts';
import { type AccountFilter, type AccountForm, accountJson, passes } from './account.ts';
import { RpcFault } from './fault.ts';
import { isKept, isOneIn, type RpcManners, type Spell } from './manners.ts';
import type { Past } from './past.ts';
import { errorJson, transactionJson, versionOf } from './transaction.ts';

/** What one node of the pool answers with. */
export interface MethodContext {
  ledger: Ledger;
  past: Past;
  manners: RpcManners;
  /** By how many slots this node is behind. */
  behind: bigint;
  /** Whether the spell affects this answer about a transaction; each call counts as one time. */
  struck(spell: Spell | null, signature: string): boolean;
  withIndex: boolean;
}

type Method = (params: unknown[], context: MethodContext) => unknown;
type Config = AccountForm & {
  commitment?: string;
  minContextSlot?: number;
  limit?: number;
  before?: string;
  filters?: AccountFilter[];
  maxSupportedTransactionVersion?: number;
};

const TOKEN_ACCOUNT_SIZE = 165;

function key(value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? decodeKey(value) : null;
  if (bytes === null) throw new RpcFault(-32602, 'Invalid param: WrongSize');
  return bytes;
}

function contextSlot(context: MethodContext, config: Config | undefined): bigint {
  const tip = context.ledger.tip().slot - context.behind;
  const slot =
    config?.commitment === 'confirmed' || config?.commitment === 'processed' ? tip : tip - FINALIZED_BEHIND;
  const seen = slotWithBlock(context.ledger, slot) ?? 0n;
  if (config?.minContextSlot !== undefined && seen < BigInt(config.minContextSlot)) {
    throw new RpcFault(-32016, 'Minimum context slot has not been reached');
  }
  return seen;
}

const formOf = (config: unknown): AccountForm => (config ?? {}) as Config;

/** The `err` of a transaction in a list, wrong where the manners say so. */
function markOf(entry: SignatureEntry, { mismarkedOneIn }: RpcManners): unknown {
  const isWrong = mismarkedOneIn > 0 && isOneIn(mismarkedOneIn, encodeBase58(entry.signature));
  if (!isWrong) return errorJson(entry);
  return entry.failed === null ? { InstructionError: [0, { Custom: 0 }] } : null;
}

const withContext = (slot: bigint, value: unknown) => ({
  context: { apiVersion: '3.0.0', slot: Number(slot) },
  value,
});

const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111';

/** The newest votes, made up when asked for: a real chain has votes in each block, this one keeps none. */
function votes({ ledger, manners }: MethodContext, indexed: bigint, most: number): object[] {
  const listed: object[] = [];
  for (let slot = indexed; slot >= ledger.firstSlot && listed.length < most; slot -= 1n) {
    if (ledger.block(slot) === null || !isKept(manners, slot)) continue;
    const signature = new Uint8Array(64);
    new DataView(signature.buffer).setBigUint64(56, slot);
    listed.push({
      ...{ signature: encodeBase58(signature), slot: Number(slot), err: null, memo: null },
      blockTime: manners.withoutTimes ? null : ledger.timeOf(slot),
      confirmationStatus: statusOf(slot, ledger),
    });
  }
  return listed;
}

const statusOf = (slot: bigint, ledger: Ledger) =>
  slot <= ledger.tip().slot - FINALIZED_BEHIND ? 'finalized' : 'confirmed';

/** The methods that the service uses, and no others. */
export const METHODS: Record<string, Method> = {
  getAccountInfo: ([address, config], context) => {
    const slot = contextSlot(context, config as Config);
    return withContext(slot, accountJson(context.past.account(key(address), slot), formOf(config)));
  },
  getMultipleAccounts: ([addresses, config], context) => {
    const list = addresses as unknown[];
    const most = context.manners.mostAccounts;
    if (!Array.isArray(list) || list.length > most)
      throw new RpcFault(-32602, `Too many inputs provided; max ${most}`);
    const slot = contextSlot(context, config as Config);
    return withContext(
      slot,
      list.map((address) => accountJson(context.past.account(key(address), slot), formOf(config))),
    );
  },
  getProgramAccounts: ([program, config], context) => {
    const slot = contextSlot(context, config as Config);
    const { filters = [] } = (config ?? {}) as Config;
    const { scans, unlistedOneIn } = context.manners;
    if (scans === 'none' || (scans === 'filtered' && filters.length === 0))
      throw new RpcFault(-32601, 'getProgramAccounts is not available on this plan');
    const accounts = context.past
      .accountsByOwner(key(program), slot)
      .filter(({ data }) => filters.every((filter) => passes(data, filter)))
      .map((account) => ({
        pubkey: encodeBase58(account.address),
        account: accountJson(account, formOf(config)),
      }))
      .filter(({ pubkey }) => unlistedOneIn === 0 || !isOneIn(unlistedOneIn, pubkey));
    return (config as { withContext?: boolean } | undefined)?.withContext === true
      ? withContext(slot, accounts)
      : accounts;
  },
  getTokenAccountBalance: ([address, config], context) => {
    const slot = contextSlot(context, config as Config);
    const account = context.past.account(key(address), slot);
    if (account === null || account.data.length < TOKEN_ACCOUNT_SIZE) {
      throw new RpcFault(-32602, 'Invalid param: could not find account');
    }
    const amount = Buffer.from(account.data).readBigUInt64LE(64);
    const mint = context.ledger.account(account.data.subarray(0, 32));
    const decimals = mint?.data[44] ?? 0;
    return withContext(slot, { amount: amount.toString(), decimals, uiAmount: null, uiAmountString: '' });
  },
  getSignaturesForAddress: ([address, config], context) => {
    const { limit = 1000, before } = (config ?? {}) as Config;
    const { ledger, manners } = context;
    if (limit > manners.mostSignatures)
      throw new RpcFault(-32602, `Invalid limit; max ${manners.mostSignatures}`);
    const indexed = contextSlot(context, config as Config) - BigInt(manners.indexBehind);
    if (address === VOTE_PROGRAM) return votes(context, indexed, limit);
    const isListed = (slot: bigint) => slot <= indexed && isKept(manners, slot);
    const from = before === undefined ? null : decodeBase58(before);
    // A node that does not know the `before` signature answers that there is nothing more.
    const place = from === null ? null : ledger.transaction(from);
    if (from !== null && (place === null || !isListed(place.block.slot))) return [];
    const most = Math.min(limit, 1000);
    const listed = (): SignatureEntry[] => {
      const found: SignatureEntry[] = [];
      for (let next = from; found.length < most; ) {
        const page = ledger.signaturesFor(key(address), next, most);
        found.push(...page.filter(({ slot }) => isListed(slot)));
        if (page.length < most) break;
        next = page.at(-1)?.signature ?? null;
      }
      return found.slice(0, most);
    };
    return listed().map((entry) => ({
      signature: encodeBase58(entry.signature),
      slot: Number(entry.slot),
      err: markOf(entry, manners),
      memo: null,
      blockTime: manners.withoutTimes ? null : entry.blockTime,
      confirmationStatus: statusOf(entry.slot, ledger),
    }));
  },
  getTransaction: ([signature, config], context) => {
    const bytes = typeof signature === 'string' ? decodeBase58(signature) : null;
    if (bytes?.length !== 64) throw new RpcFault(-32602, 'Invalid param: WrongSize');
    const { manners } = context;
    const most = (config as Config | undefined)?.maxSupportedTransactionVersion;
    if (most !== undefined && most > manners.mostVersion)
      throw new RpcFault(-32602, 'Invalid params: maxSupportedTransactionVersion is not supported');
    const found = context.ledger.transaction(bytes);
    if (found === null || found.block.slot > contextSlot(context, config as Config)) return null;
    if (!isKept(manners, found.block.slot)) return null;
    if (context.struck(manners.withheld, signature as string)) return null;
    const version = versionOf(found.tx, manners.versionOne);
    if (version !== 'legacy' && (most ?? -1) < version) {
      throw new RpcFault(
        -32015,
        `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
      );
    }
    return transactionJson(found.block, found.tx, {
      withIndex: context.withIndex,
      versionOne: manners.versionOne,
      withTime: !manners.withoutTimes,
      recorded: !manners.unrecorded,
      bare: context.struck(manners.bare, signature as string),
    });
  },
  getSlot: ([config], context) => Number(contextSlot(context, config as Config)),
  getBlockTime: ([slot], context) => {
    const { ledger, manners } = context;
    const wanted = BigInt(slot as number);
    if (manners.firstBlock !== null && wanted < manners.firstBlock)
      throw new RpcFault(
        -32001,
        `Block ${wanted} cleaned up, does not exist on node. First available block: ${manners.firstBlock}`,
      );
    if (!isKept(manners, wanted))
      throw new RpcFault(
        -32007,
        `Slot ${wanted} was skipped, or missing due to ledger jump to recent snapshot`,
      );
    if (wanted > ledger.tip().slot - context.behind)
      throw new RpcFault(-32004, `Block not available for slot ${wanted}`);
    if (ledger.block(wanted) === null) throw new RpcFault(-32009, `Slot ${wanted} was skipped`);
    return manners.withoutTimes ? null : ledger.timeOf(wanted);
  },
  getFirstAvailableBlock: (_, { ledger, manners }) => Number(manners.firstBlock ?? ledger.firstSlot),
};
