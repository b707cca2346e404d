import type { StoredState } from '../../../../clickhouse/queries/audit/accounts.ts';
import type { LatestTable } from '../../../../clickhouse/tables.ts';
import { MalformedError } from '../../../../schemas/malformed.ts';
import type { AccountRecord, ExpectedAccount } from '../../../../schemas/records.ts';
import { decodeKey } from '../../../../schemas/solana/base58.ts';
import type { createPartsReader } from '../../../accounts/account-parts.ts';
import { rpcRecord } from '../../../accounts/account-reader.ts';
import { EXPECTED_TABLES, readAccount, tableOfGone } from '../../../materialise/rows/account.ts';
import type { AuditContext } from '../context.ts';

/** The columns that a state of the chain has in its table, `exists` among them. */
export type ChainColumns = Record<string, unknown>;

/** A state as of the slot of its answer. */
export interface ChainState {
  slot: bigint;
  columns: ChainColumns | 'unreadable';
}

export interface ChainReading {
  /** The latest slot of the node's answers. */
  slot: bigint;
  /** By address; one that is of another table is left out. */
  states: Map<string, ChainState>;
}

/** Columns that say by which transaction a state was written, which an answer over RPC does not tell. */
const OF_THE_WRITE: ReadonlySet<string> = new Set(['signature']);

/** Reads accounts over RPC, at the newest of their stored slots or later, as rows of a table. @throws RpcError */
export async function readChain(
  { programId }: Pick<AuditContext, 'programId'>,
  readParts: ReturnType<typeof createPartsReader>,
  table: LatestTable,
  rows: readonly StoredState[],
): Promise<ChainReading> {
  const minContextSlot = BigInt(Math.max(0, ...rows.map(({ slot }) => Number(slot))));
  const addresses = rows.map(({ address }) => address);
  const parts = await readParts(addresses, { minContextSlot });
  const answers = parts.flatMap(({ addresses: some, slot, accounts }) =>
    some.map((address, at) => ({ address, slot, account: accounts[at] })),
  );
  const states: ChainReading['states'] = new Map();
  for (const { address, slot, account } of answers) {
    const record = rpcRecord(account ?? null, {
      ...{ slot, blockTime: null, address: decodeKey(address) as Uint8Array },
      expected: EXPECTED.get(table) ?? 'program',
    });
    const columns = columnsOf(record, table, decodeKey(programId) as Uint8Array);
    if (columns !== null) states.set(address, { slot, columns });
  }
  const latest = Math.max(Number(minContextSlot), ...parts.map(({ slot }) => Number(slot)));
  return { slot: BigInt(latest), states };
}

const EXPECTED = new Map(
  Object.entries(EXPECTED_TABLES).map(([expected, table]) => [table, expected as ExpectedAccount]),
);

function columnsOf(
  record: AccountRecord,
  table: LatestTable,
  programId: Uint8Array,
): ChainColumns | 'unreadable' | null {
  try {
    const reading = readAccount(record, programId);
    if (reading === 'missing') return { exists: 0 };
    if (reading !== 'foreign' && tableOfGone(record, reading) === table) return { exists: 0 };
    if (reading === 'foreign' || reading.table !== table) return null;
    const columns: ChainColumns = { ...reading.columns(), exists: 1 };
    // Mints are read only now and then: the supply, which moves, is not served.
    if (table === 'mints') delete columns.supply;
    return columns;
  } catch (error) {
    if (error instanceof MalformedError) return 'unreadable';
    throw error;
  }
}

/** Names of the columns in which a stored row and the chain's state differ. */
export function differingColumns(stored: StoredState, chain: ChainColumns): string[] {
  return Object.keys(chain).filter(
    (name) => !OF_THE_WRITE.has(name) && text(stored[name]) !== text(chain[name]),
  );
}

/** Integers over 32 bits are strings on one side and may be numbers on the other. */
const text = (value: unknown): string =>
  Array.isArray(value) ? JSON.stringify(value.map(String)) : value === null ? 'null' : `=${String(value)}`;
