import type { Action } from '../program/actions.ts';
import { type Execution, execute } from '../program/execute.ts';
import { writable } from '../program/instruction-run.ts';
import { applyChanges, type Changes, openDraft } from '../program/state/draft.ts';
import type { Key, ProgramState, TableName } from '../program/state/state.ts';
import { TABLE_NAMES } from '../program/state/state.ts';
import { type BlockRecord, blockhashAt, writesOf } from './block-record.ts';
import { keysOf } from './chain-index.ts';
import type { Block, LedgerTransaction } from './ledger.ts';
import { type HeldTokens, heldTokens } from './token-balances.ts';
import { type Builder, buildTransaction, writableKeys } from './transactions.ts';

/** The place a block takes in the chain. */
export interface Slot {
  slot: bigint;
  parent: bigint;
  blockTime: number;
  /** The last write version counted so far. */
  version: bigint;
}

function changedKeys(changes: Changes): Map<Key, TableName> {
  const keys = new Map<Key, TableName>();
  for (const table of TABLE_NAMES) for (const key of changes[table]?.keys() ?? []) keys.set(key, table);
  return keys;
}

/** Lists changed accounts in the last instruction where none has them: a program changes only what it was given. */
function listChanged(execution: Execution, changed: ReadonlyMap<Key, TableName>): void {
  const listed = new Set(
    execution.instructions.flatMap((instruction) => instruction.metas.map((meta) => meta.key)),
  );
  const last = execution.instructions.at(-1);
  for (const key of changed.keys()) if (!listed.has(key)) last?.metas.push(writable(key));
}

function setRow(rows: Changes, table: TableName, key: Key, state: ProgramState): void {
  const value = state[table].get(key) ?? null;
  const map = rows[table] ?? new Map();
  Object.assign(rows, { [table]: map });
  (map as Map<Key, typeof value>).set(key, value);
}

/**
 * Runs each action as a transaction over the state, one after the other, and makes the block and its record. An action
 * of `null` is a transaction that only mentions the program.
 */
export function runBlock(
  state: ProgramState,
  at: Slot,
  actions: readonly (Action | null)[],
  builder: Builder,
  knownTable: (key: Key) => TableName | null,
): { record: BlockRecord; block: Block; version: bigint } {
  const { slot, parent, blockTime } = at;
  const parentBlockhash = blockhashAt(builder.seed, parent);
  const executions: Execution[] = [];
  const tokens: HeldTokens[][] = [];
  const transactions: LedgerTransaction[] = [];
  const touched = new Map<Key, { tx: number; version: bigint; table: TableName }>();
  let version = at.version;
  for (const action of actions) {
    const draft = openDraft(state);
    const where = { now: BigInt(blockTime), programId: builder.programId, addresses: builder.addresses };
    const execution: Execution =
      action === null ? { instructions: [], error: null, policies: [] } : execute(draft, action, where);
    const changed = execution.error === null ? changedKeys(draft.changes) : new Map<Key, TableName>();
    listChanged(execution, changed);
    const index = executions.push(execution) - 1;
    const keys = new Set<Key>();
    for (const instruction of execution.instructions) keysOf(instruction, keys);
    const held = heldTokens(keys, state, execution.error === null ? draft : null);
    tokens.push(held);
    const place = { slot, index, blockhash: parentBlockhash, tokens: held };
    const tx = buildTransaction(execution, place, builder);
    transactions.push(tx);
    if (execution.error !== null) continue;
    applyChanges(state, draft.changes);
    for (const key of writableKeys(tx)) {
      const table = changed.get(key) ?? touched.get(key)?.table ?? knownTable(key);
      // A closed account is in no table any more: a transaction that names it writable writes nothing.
      if (table === null || (!changed.has(key) && !state[table].has(key))) continue;
      version += 1n;
      touched.delete(key);
      touched.set(key, { tx: index, version, table });
    }
    for (const key of changed.keys()) {
      if (!touched.has(key)) throw new Error(`${key} was changed by a transaction that may not write to it`);
    }
  }
  const rows: Changes = {};
  for (const [key, { table }] of touched) setRow(rows, table, key, state);
  const written = [...touched].map(([key, { tx, version: counted }]) => ({ key, tx, version: counted }));
  const record: BlockRecord = { slot, parent, blockTime, executions, tokens, rows, written };
  const blockhash = blockhashAt(builder.seed, slot);
  const writes = writesOf(record, builder);
  return {
    record,
    block: { slot, parent, blockTime, blockhash, parentBlockhash, transactions, writes },
    version,
  };
}
