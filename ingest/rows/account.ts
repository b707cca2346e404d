import { type AccountType, decodeAccount, type ProgramAccount } from '../../schemas/accounts.ts';
import { encodeBase58 } from '../../schemas/base58.ts';
import { decodeCurveConfig, decodePool, isCurveConfig, isPool } from '../../schemas/launchpad.ts';
import { MalformedError } from '../../schemas/malformed.ts';
import { policyTokenAccounts } from '../../schemas/pda.ts';
import type { AccountRecord, ExpectedAccount } from '../../schemas/records.ts';
import {
  decodeMetadataAccount,
  decodeMint,
  decodeTokenAccount,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  tokenProgramKind,
} from '../../schemas/token.ts';

export type LatestTable =
  | 'policies'
  | 'venue_accounts'
  | 'token_accounts'
  | 'mints'
  | 'metadata_accounts'
  | 'pools'
  | 'curve_configs'
  | 'protocol_config'
  | 'origins'
  | 'models';

export const LATEST_TABLES: readonly LatestTable[] = [
  'policies',
  'venue_accounts',
  'token_accounts',
  'mints',
  'metadata_accounts',
  'pools',
  'curve_configs',
  'protocol_config',
  'origins',
  'models',
];

export type Row = Record<string, unknown>;

/** Where a state belongs; `columns` is called for the states that are written only. */
export interface LatestState {
  table: LatestTable;
  columns(): Row;
}

/** `missing`: no account stands there. `foreign`: an account that nothing of ours asked for. */
export type AccountReading = LatestState | 'missing' | 'foreign';

const TABLES: Record<AccountType, LatestTable> = {
  Policy: 'policies',
  VenueAccount: 'venue_accounts',
  ProtocolConfig: 'protocol_config',
  Origin: 'origins',
  Model: 'models',
};

/** The table of a followed address, where it is followed as one thing. */
export const EXPECTED_TABLES: Record<Exclude<ExpectedAccount, 'program'>, LatestTable> = {
  token_account: 'token_accounts',
  mint: 'mints',
  metadata: 'metadata_accounts',
  pool: 'pools',
  curve_config: 'curve_configs',
};

const SYSTEM_PROGRAM = '11111111111111111111111111111111';

/**
 * Reads the state of an account as a row of its table.
 * @throws MalformedError where the bytes are not what the owner and the address say they are.
 */
export function readAccount(record: AccountRecord, programId: Uint8Array): AccountReading {
  if (record.lamports === 0n) return 'missing';
  if (Buffer.compare(record.owner, programId) === 0) {
    const account = decodeAccount(record.data);
    return { table: TABLES[account.type], columns: () => programColumns(account, record, programId) };
  }
  const owner = encodeBase58(record.owner);
  // Anyone may send lamports to an address before its account is made.
  if (owner === SYSTEM_PROGRAM && record.data.length === 0) return 'missing';
  if (record.expected === 'metadata') return metadata(record);
  if (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM) return token(record, owner);
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

function pool(record: AccountRecord, program: string): LatestState {
  const state = decodePool(record.data);
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

function programColumns(account: ProgramAccount, record: AccountRecord, programId: Uint8Array): Row {
  if (account.type === 'Policy') return policyColumns(account, record, programId);
  const { type: _, ...fields } = account;
  return columnsOf({ ...fields, bump: undefined });
}

function policyColumns(
  account: Extract<ProgramAccount, { type: 'Policy' }>,
  record: AccountRecord,
  programId: Uint8Array,
): Row {
  const { type: _, agent, ...fields } = account;
  const { bankroll, quoteEscrow, baseEscrow, holderRewards } = policyTokenAccounts(programId, record.address);
  return columnsOf({
    ...fields,
    bump: undefined,
    agent: agent.every((byte) => byte === 0) ? null : agent,
    signature: record.signature,
    bankroll,
    quoteEscrow,
    baseEscrow,
    holderRewards,
  });
}

/** The columns that hold bytes and no key. */
const BYTES: Record<string, (bytes: Uint8Array) => unknown> = {
  remoteAccount: (bytes) => Buffer.from(bytes).toString('hex'),
  minRiskForClass: (bytes) => Array.from(bytes),
};

function columnsOf(fields: Record<string, unknown>): Row {
  const row: Row = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    row[columnName(name)] =
      value instanceof Uint8Array
        ? (BYTES[name] ?? encodeBase58)(value)
        : typeof value === 'bigint'
          ? value.toString()
          : typeof value === 'boolean'
            ? Number(value)
            : value;
  }
  return row;
}

const names = new Map<string, string>();

function columnName(field: string): string {
  const known = names.get(field);
  if (known !== undefined) return known;
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  names.set(field, name);
  return name;
}
