import type { LatestColumns, LatestTable } from '../../../clickhouse/tables.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import { decodeAccount, type Policy } from '../../../schemas/program/accounts.ts';
import type { AccountRecord, ExpectedAccount } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { decodeCurveConfig, decodePool, isCurveConfig, isPool } from '../../../schemas/solana/launchpad.ts';
import { poolAddress } from '../../../schemas/solana/pda.ts';
import { SYSTEM_PROGRAM } from '../../../schemas/solana/system-program.ts';
import {
  decodeMetadataAccount,
  decodeMint,
  decodeTokenAccount,
  isTokenProgram,
  tokenKindOf,
  tokenProgramKind,
} from '../../../schemas/solana/token.ts';
import { sameBytes } from '../../../schemas/transaction/own-calls.ts';
import { PROGRAM_TABLES, programColumns } from './program-account.ts';

/** The table that a state belongs to; `columns` is called only for states that are written. */
export interface LatestState {
  table: LatestTable;
  columns(): LatestColumns[LatestTable];
  /** Of a policy only. */
  mark?: Pick<Policy, 'hwm' | 'profitSwept'>;
}

/** `missing`: no account stands there. `foreign`: an account that nothing of ours asked for. */
export type AccountReading = LatestState | 'missing' | 'foreign';

/** The table of a followed address, where it is followed as one thing. */
export const EXPECTED_TABLES: Record<Exclude<ExpectedAccount, 'program'>, LatestTable> = {
  token_account: 'token_accounts',
  mint: 'mints',
  metadata: 'metadata_accounts',
  pool: 'pools',
  curve_config: 'curve_configs',
};

/**
 * Where a token account was expected and a mint stands, or the other way round: the table of the expected kind, of
 * which nothing stands there any more. It was closed, and the other was made since. Null for any other state.
 */
export function tableOfGone({ expected }: AccountRecord, { table }: LatestState): LatestTable | null {
  if (expected === 'token_account' && table === 'mints') return 'token_accounts';
  return expected === 'mint' && table === 'token_accounts' ? 'mints' : null;
}

/**
 * Reads the state of an account as a row of its table.
 * @throws MalformedError where the bytes are not what the owner and the address say they are.
 */
export function readAccount(record: AccountRecord, programId: Uint8Array): AccountReading {
  if (record.lamports === 0n) return 'missing';
  if (Buffer.compare(record.owner, programId) === 0) {
    const account = decodeAccount(record.data);
    const columns = () => programColumns(account, record, programId);
    const state = { table: PROGRAM_TABLES[account.type], columns };
    return account.type === 'Policy' ? { ...state, mark: account } : state;
  }
  const owner = encodeBase58(record.owner);
  // Anyone may send lamports to an address before its account is made.
  if (owner === SYSTEM_PROGRAM && record.data.length === 0) return 'missing';
  // The creator of a mint chooses where its metadata stands: a pool or a token account at that address is read as one.
  if (record.expected === 'metadata' && !isPool(record.data) && tokenKindOf(record) !== 'account')
    return metadata(record);
  if (isTokenProgram(record.owner)) return token(record, owner);
  if (isPool(record.data)) return pool(record, owner);
  if (isCurveConfig(record.data)) {
    const { curveType } = decodeCurveConfig(record.data);
    return { table: 'curve_configs', columns: () => ({ curve_type: curveType }) };
  }
  if (record.expected === null) return 'foreign';
  throw new MalformedError(record.expected, `${record.data.length} bytes of the program ${owner}`);
}

function token(record: AccountRecord, owner: string): AccountReading {
  const kind = tokenProgramKind(record.data);
  if (kind === null && record.expected === null) return 'foreign';
  if (kind === 'account') {
    const account = decodeTokenAccount(record.data);
    return {
      table: 'token_accounts',
      columns: () => ({
        mint: encodeBase58(account.mint),
        owner: encodeBase58(account.owner),
        amount: account.amount.toString(),
      }),
    };
  }
  const mint = decodeMint(record.data, record.address);
  return {
    table: 'mints',
    columns: () => ({
      token_program: owner,
      decimals: mint.decimals,
      supply: mint.supply.toString(),
      name: mint.metadata?.name ?? null,
      symbol: mint.metadata?.symbol ?? null,
      uri: mint.metadata?.uri ?? null,
      metadata_pointer: mint.metadataPointer === null ? null : encodeBase58(mint.metadataPointer),
    }),
  };
}

function metadata(record: AccountRecord): LatestState {
  const { mint, name, symbol, uri } = decodeMetadataAccount(record.data);
  return { table: 'metadata_accounts', columns: () => ({ mint: encodeBase58(mint), name, symbol, uri }) };
}

/**
 * A pool stands at the address that its owning program derives for it: other programs make accounts of the same form.
 */
function pool(record: AccountRecord, program: string): AccountReading {
  const state = decodePool(record.data);
  if (!sameBytes(poolAddress(record.owner, state.baseMint, state.quoteMint), record.address)) {
    if (record.expected !== 'pool') return 'foreign';
    throw new MalformedError('pool', `of the program ${program}, which does not derive this address`);
  }
  return {
    table: 'pools',
    columns: () => ({
      program,
      status: state.status,
      base_decimals: state.baseDecimals,
      quote_decimals: state.quoteDecimals,
      supply: state.supply.toString(),
      virtual_base: state.virtualBase.toString(),
      virtual_quote: state.virtualQuote.toString(),
      real_base: state.realBase.toString(),
      real_quote: state.realQuote.toString(),
      global_config: encodeBase58(state.globalConfig),
      base_mint: encodeBase58(state.baseMint),
      quote_mint: encodeBase58(state.quoteMint),
    }),
  };
}
