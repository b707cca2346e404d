import { MalformedError } from '../malformed.ts';
import type { TransactionRecord } from '../records.ts';
import { decodeKey } from '../solana/base58.ts';
import { readGeyserTransaction } from './geyser.ts';
import { readJsonTransaction } from './json.ts';
import { CUT, callsBegun } from './log-walk.ts';
import type {
  Account,
  Call,
  ChainTransaction,
  Instruction,
  TokenAmount,
  TokenBalance,
  TransactionParts,
} from './parts.ts';
import { isPrecompile } from './precompiles.ts';

const AMOUNT = /^\d{1,20}$/;

/** The runtime nests calls at most nine deep; what claims more is no transaction. */
const MAX_DEPTH = 64;

/**
 * Reads a transaction record of either format.
 * @throws MalformedError where the payload does not hold a transaction with its meta, or not all of its calls.
 */
export function readTransaction(record: Pick<TransactionRecord, 'format' | 'payload'>): ChainTransaction {
  const read = record.format === 'geyser' ? readGeyserTransaction : readJsonTransaction;
  const parts = read(record.payload);
  const accounts = accountsOf(parts);
  const calls = callsOf(parts, accounts);
  mustHaveCalls(parts, calls.filter((call) => !isPrecompile(call)).length);
  return {
    failed: parts.failed,
    logs: parts.logs,
    calls,
    depthsTold: parts.inner.every(({ instructions }) => instructions.every(isDepthTold)),
    tokenBalances: () => tokenBalancesOf(parts, accounts),
  };
}

function tokenBalancesOf(
  { tokensBefore, tokensAfter }: TransactionParts,
  accounts: readonly Account[],
): TokenBalance[] {
  const held = new Map<number, TokenBalance>();
  const note = (when: 'before' | 'after', { accountIndex, mint, uiTokenAmount }: TokenAmount) => {
    const address = accounts[accountIndex]?.address;
    const mintKey = decodeKey(mint);
    const amount = uiTokenAmount?.amount ?? '';
    if (address === undefined || mintKey === null || !AMOUNT.test(amount))
      throw malformed(`a token balance of account ${accountIndex} that is none`);
    const known = held.get(accountIndex) ?? { address, mint: mintKey, before: null, after: null };
    held.set(accountIndex, { ...known, [when]: BigInt(amount) });
  };
  for (const entry of tokensBefore) note('before', entry);
  for (const entry of tokensAfter) note('after', entry);
  return [...held.values()];
}

function callsOf(parts: TransactionParts, accounts: readonly Account[]): Call[] {
  const account = (index: number): Account => {
    const found = accounts[index];
    if (found === undefined) throw malformed(`no account ${index} among ${accounts.length}`);
    return found;
  };
  const call = (instruction: Instruction, depth: number): Call => ({
    depth,
    program: account(instruction.programIdIndex).address,
    accounts: Array.from(instruction.accounts, account),
    data: instruction.data,
  });
  const below = parts.instructions.map((): Call[] => []);
  for (const { index, instructions } of parts.inner) {
    const calls = below[index];
    if (calls === undefined) throw malformed(`inner instructions of ${index}, which is not there`);
    for (const inner of instructions) calls.push(call(inner, depthOf(inner)));
  }
  return parts.instructions.flatMap((top, index) => [call(top, 1), ...(below[index] as Call[])]);
}

/**
 * Where a node records no inner instructions, or leaves some out, the logs show these calls all the same; where the
 * logs are not whole either, nothing says that there were none.
 * @param told how many calls the payload holds of those that print a line.
 * @throws MalformedError where calls are missing, or may be
 */
function mustHaveCalls({ failed, innerTold, logs }: TransactionParts, told: number): void {
  if (failed) return;
  const begun = callsBegun(logs ?? []);
  if (begun > told) throw malformed(`its logs begin ${begun} calls, and ${told} are told`);
  if (!innerTold && (begun < told || logs?.includes(CUT)))
    throw malformed('neither inner instructions nor whole logs are told');
}

const isDepthTold = ({ stackHeight }: Instruction): boolean => stackHeight != null;

function depthOf({ stackHeight }: Instruction): number {
  const depth = stackHeight ?? 2;
  if (depth < 2 || depth > MAX_DEPTH) throw malformed(`an inner instruction at depth ${depth}`);
  return depth;
}

function accountsOf({ header, keys, loadedWritable, loadedReadonly }: TransactionParts): Account[] {
  const signed = header.numRequiredSignatures;
  const writableSigned = signed - header.numReadonlySignedAccounts;
  const writableUnsigned = keys.length - header.numReadonlyUnsignedAccounts;
  return [
    ...keys.map((address, index) => ({
      address,
      writable: index < (index < signed ? writableSigned : writableUnsigned),
    })),
    ...loadedWritable.map((address) => ({ address, writable: true })),
    ...loadedReadonly.map((address) => ({ address, writable: false })),
  ];
}

function malformed(reason: string): MalformedError {
  return new MalformedError('transaction', reason);
}
