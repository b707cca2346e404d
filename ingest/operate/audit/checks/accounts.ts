import {
  mintOfPolicy,
  type StoredState,
  statesAfter,
  statesAt,
} from '../../../../clickhouse/queries/audit/accounts.ts';
import { LATEST_TABLES, type LatestTable } from '../../../../clickhouse/tables.ts';
import { inParallel } from '../../../../runtime/parallel.ts';
import { pause } from '../../../../runtime/process/lifecycle.ts';
import type { Rpc } from '../../../../runtime/rpc/rpc.ts';
import { ADDRESSES_PER_READ, createPartsReader } from '../../../accounts/account-parts.ts';
import type { AuditContext } from '../context.ts';
import { historyState, OPEN_GAP } from '../history-state.ts';
import { listDownTo, nullIfUnavailable } from '../list-down-to.ts';
import { type ChainColumns, type ChainReading, differingColumns, readChain } from './chain-state.ts';

const READS_AT_ONCE = 4;
const MOST_LISTED = 1_000;
/** A state that differs is looked at once more; one that moves on meanwhile, up to this many times. */
const LOOKS = 4;

/** Compares the stored states of all followed accounts with those that the chain has. */
export async function auditAccounts(context: AuditContext, rpc: Rpc): Promise<void> {
  const { store, signal } = context;
  const reads = { rpc, readParts: createPartsReader(rpc) };
  for (const table of LATEST_TABLES) {
    for (let after = ''; !signal.aborted; ) {
      const pages: StoredState[][] = [];
      for (let page = 0; page < READS_AT_ONCE; page += 1) {
        const rows = await statesAfter(store, table, after, ADDRESSES_PER_READ);
        after = rows.at(-1)?.address ?? after;
        if (rows.length > 0) pages.push(rows);
        if (rows.length < ADDRESSES_PER_READ) break;
      }
      await inParallel(pages, READS_AT_ONCE, (rows) => auditPage(context, reads, table, rows));
      if (pages.length < READS_AT_ONCE || (pages.at(-1)?.length ?? 0) < ADDRESSES_PER_READ) break;
    }
  }
}

async function auditPage(
  context: AuditContext,
  { rpc, readParts }: { rpc: Rpc; readParts: ReturnType<typeof createPartsReader> },
  table: LatestTable,
  rows: readonly StoredState[],
): Promise<void> {
  const { store, report, signal, pauseMs, patienceMs, caughtUp } = context;
  const leave = (reason: string) => report.notComparable('account states', reason);
  let open = rows;
  const until = performance.now() + patienceMs;
  for (let look = 1; look <= LOOKS && open.length > 0 && !signal.aborted; ) {
    const isPatient = performance.now() < until;
    const chain = await readChain(context, readParts, table, open);
    const suspects = open.filter((row) => !agrees(row, chain));
    report.compared('account states', open.length - suspects.length);
    if (suspects.length === 0) return;
    const isThere = await caughtUp(chain.slot);
    const stored = await statesAt(
      store,
      table,
      suspects.map(({ address }) => address),
    );
    const isWhole = (await historyState(store)).openFrom.length === 0;
    const still: StoredState[] = [];
    for (const row of stored) {
      const verdict = judge(row, chain, { isThere, isWhole });
      if (verdict === 'agrees') report.compared('account states', 1);
      else if (verdict === 'moved on' || (verdict === 'differs' && look === 1)) still.push(row);
      else if (verdict === 'differs' && row.source === 'rpc' && isPatient) still.push(row);
      else if (verdict === 'differs') await tell(context, rpc, table, row, chain);
      else leave(verdict);
    }
    open = still;
    if (isPatient && open.length > 0 && open.every(({ source }) => source === 'rpc'))
      await pause(pauseMs, signal);
    else look += 1;
  }
  for (const _ of open) leave('written to all the time');
}

/** Undefined columns: the account is of another kind on the chain. */
function agrees(row: StoredState, chain: ChainReading): boolean {
  const columns = chain.states.get(row.address)?.columns;
  return columns !== undefined && columns !== 'unreadable' && differingColumns(row, columns).length === 0;
}

/**
 * The chain's state is that of its answer's slot. It is compared once the index is at that slot, and only where the
 * stored state is not newer: then the stored state is the index's of that slot too.
 */
function judge(
  row: StoredState,
  chain: ChainReading,
  index: { isThere: boolean; isWhole: boolean },
): 'agrees' | 'differs' | 'moved on' | (string & {}) {
  const state = chain.states.get(row.address);
  if (state === undefined) return 'of another kind on the chain';
  const { slot, columns } = state;
  if (columns === 'unreadable') return 'malformed on the chain, the last good state stays';
  if (differingColumns(row, columns).length === 0) return 'agrees';
  if (!index.isThere) return 'the index has not come to the slot of the chain’s answer';
  if (BigInt(row.slot) > slot) return 'moved on';
  // After a gap accounts are read again over RPC, and that may still be under way.
  return index.isWhole ? 'differs' : `differs while ${OPEN_GAP}`;
}

async function tell(
  context: AuditContext,
  rpc: Rpc,
  table: LatestTable,
  row: StoredState,
  chain: ChainReading,
): Promise<void> {
  const columns = chain.states.get(row.address)?.columns as ChainColumns;
  const mint = await mintOf(context, table, row);
  const slot = await firstWriteSince(context, rpc, row);
  context.report.compared('account states', 1);
  for (const name of differingColumns(row, columns)) {
    context.report.difference('account states', {
      mint,
      figure: `${table}.${name} of ${row.address}`,
      values: [
        ['served', shown(row[name])],
        ['chain', shown(columns[name])],
      ],
      slot,
    });
  }
}

/** The mint of the policy that the account belongs to, if it belongs to one. */
async function mintOf({ store }: AuditContext, table: LatestTable, row: StoredState): Promise<string | null> {
  if (table === 'mints') return row.address;
  const owners = [row.address, row.policy, row.owner].filter((owner) => typeof owner === 'string');
  return (await mintOfPolicy(store, owners)) ?? (table === 'pools' ? shown(row.base_mint) : null);
}

/** The slot of the oldest write after the stored state, or of that state if there is none; null where no node tells. */
async function firstWriteSince(
  { signal }: AuditContext,
  rpc: Rpc,
  { address, slot }: StoredState,
): Promise<string | null> {
  const options = { rpc, signal, downTo: BigInt(slot) + 1n, most: MOST_LISTED };
  const since = await listDownTo(address, options).catch(nullIfUnavailable);
  return since === null ? null : String(since.findLast(({ failed }) => !failed)?.slot ?? slot);
}

const shown = (value: unknown): string => (Array.isArray(value) ? JSON.stringify(value) : String(value));
