import type { Key, ProgramState, TableName, Tables } from './state.ts';

/** What changed, by table and address; null: the account was closed. */
export type Changes = { [T in TableName]?: Map<Key, Tables[T] | null> };

/**
 * A state with changes over it that are not applied yet. The draft of a transaction that fails is thrown away, so no
 * rule has to undo anything.
 */
export interface Draft {
  get<T extends TableName>(table: T, address: Key): Tables[T] | undefined;
  /** A copy that may be written to. @throws RangeError where there is no such account. */
  edit<T extends TableName>(table: T, address: Key): Tables[T];
  put<T extends TableName>(table: T, value: Tables[T]): Tables[T];
  remove(table: TableName, address: Key): void;
  changes: Changes;
}

function changedIn<T extends TableName>(changes: Changes, table: T): Map<Key, Tables[T] | null> {
  const known = changes[table] as Map<Key, Tables[T] | null> | undefined;
  if (known !== undefined) return known;
  const fresh = new Map<Key, Tables[T] | null>();
  Object.assign(changes, { [table]: fresh });
  return fresh;
}

/** Opens a draft over a committed state. */
export function openDraft(state: ProgramState): Draft {
  const changes: Changes = {};
  const get = <T extends TableName>(table: T, address: Key): Tables[T] | undefined => {
    const changed = (changes[table] as Map<Key, Tables[T] | null> | undefined)?.get(address);
    if (changed !== undefined) return changed ?? undefined;
    return (state[table] as Map<Key, Tables[T]>).get(address);
  };
  return {
    changes,
    get,
    edit: (table, address) => {
      const map = changedIn(changes, table);
      const mine = map.get(address);
      if (mine) return mine;
      const current = get(table, address);
      if (current === undefined) throw new RangeError(`no account in ${table} at ${address}`);
      const copy = { ...current };
      map.set(address, copy);
      return copy;
    },
    put: (table, value) => {
      changedIn(changes, table).set(value.address, value);
      return value;
    },
    remove: (table, address) => {
      changedIn(changes, table).set(address, null);
    },
  };
}

/** Writes what changed into the state. */
export function applyChanges(state: ProgramState, changes: Changes): void {
  for (const [table, map] of Object.entries(changes) as [TableName, Map<Key, Tables[TableName] | null>][]) {
    const rows = state[table] as Map<Key, Tables[TableName]>;
    for (const [address, value] of map) {
      if (value === null) rows.delete(address);
      else rows.set(address, value);
    }
  }
}
