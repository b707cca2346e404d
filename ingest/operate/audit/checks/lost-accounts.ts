import { mintOfPolicy, storedAmong } from '../../../../clickhouse/queries/audit/accounts.ts';
import { chunks } from '../../../../runtime/chunks.ts';
import { RpcError } from '../../../../runtime/rpc/error.ts';
import type { Rpc } from '../../../../runtime/rpc/rpc.ts';
import { MalformedError } from '../../../../schemas/malformed.ts';
import type { AccountRecord } from '../../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_READ } from '../../../accounts/account-parts.ts';
import { type AccountReader, createAccountReader } from '../../../accounts/account-reader.ts';
import { readAccount } from '../../../materialise/rows/account.ts';
import { PROGRAM_TABLES } from '../../../materialise/rows/program-account.ts';
import type { AuditContext } from '../context.ts';
import { historyState, OPEN_GAP } from '../history-state.ts';
import { listDownTo, nullIfUnavailable } from '../list-down-to.ts';

const SUBJECT = 'account states';
const TABLES = Object.values(PROGRAM_TABLES);
const ADDRESSES_AT_ONCE = 1_000;
const MOST_LISTED = 1_000;

/**
 * Reports accounts of the program that a node lists and the index has no state of; those that the list lacks stay
 * hidden.
 */
export async function auditLostAccounts(context: AuditContext, rpc: Rpc): Promise<void> {
  const { store, programId, report, signal, caughtUp } = context;
  const reader = createAccountReader(rpc, { expectedAt: () => 'program' }, async () => null);
  const listed = await reader.readProgram(programId, 0n, 0).catch((error) => {
    if (!(error instanceof RpcError) || error.kind !== 'refused') throw error;
    report.notComparable(SUBJECT, 'of the program that are stored nowhere: no node lists them');
    return [];
  });
  const [top = 0n] = listed.map(({ slot }) => slot).toSorted((one, other) => (one > other ? -1 : 1));
  // An account that was made a moment ago is stored once the index has come to the slot of the list.
  const isThere = await caughtUp(top);
  for (const some of chunks(listed, ADDRESSES_AT_ONCE)) {
    if (signal.aborted) return;
    const addresses = some.map(({ address }) => encodeBase58(address));
    const stored = await storedAmong(store, TABLES, addresses);
    const missing = addresses.filter((address) => !stored.has(address));
    for (const page of chunks(missing, ADDRESSES_PER_READ))
      await tellPage(context, rpc, reader, page, isThere);
  }
}

async function tellPage(
  context: AuditContext,
  rpc: Rpc,
  reader: AccountReader,
  addresses: readonly string[],
  isThere: boolean,
): Promise<void> {
  const { store, report } = context;
  const isWhole = (await historyState(store)).openFrom.length === 0;
  for (const record of await reader.read(addresses, 0n)) {
    const columns = columnsOf(record, decodeKey(context.programId) as Uint8Array);
    if (columns === 'gone') continue;
    if (columns === 'unreadable') report.notComparable(SUBJECT, 'malformed on the chain and never stored');
    else if (!isThere)
      report.notComparable(SUBJECT, 'the index has not come to the slot of the chain’s answer');
    else if (!isWhole) report.notComparable(SUBJECT, `stored nowhere while ${OPEN_GAP}`);
    else await tell(context, rpc, encodeBase58(record.address), columns);
  }
}

interface Lost {
  table: string;
  mint: unknown;
  policy: unknown;
}

function columnsOf(record: AccountRecord, programId: Uint8Array): Lost | 'gone' | 'unreadable' {
  try {
    const reading = readAccount(record, programId);
    if (typeof reading === 'string' || !TABLES.some((table) => table === reading.table)) return 'gone';
    const { mint, policy }: Partial<Record<string, unknown>> = { ...reading.columns() };
    return { table: reading.table, mint, policy };
  } catch (error) {
    if (error instanceof MalformedError) return 'unreadable';
    throw error;
  }
}

async function tell(
  { store, report, startSlot, signal }: AuditContext,
  rpc: Rpc,
  address: string,
  { table, mint, policy }: Lost,
): Promise<void> {
  const ofPolicy = typeof policy === 'string' ? await mintOfPolicy(store, [policy]) : null;
  const options = { rpc, signal, downTo: startSlot, most: MOST_LISTED };
  const first = (await listDownTo(address, options).catch(nullIfUnavailable))?.findLast(
    ({ failed }) => !failed,
  );
  report.compared(SUBJECT, 1);
  report.difference(SUBJECT, {
    mint: table === 'policies' ? String(mint) : ofPolicy,
    figure: `${table}.exists of ${address}`,
    values: [
      ['served', 'nothing'],
      ['chain', '1'],
    ],
    slot: first === undefined ? null : String(first.slot),
  });
}
