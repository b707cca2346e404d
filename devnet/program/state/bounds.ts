import type { TypedEvent } from './events.ts';
import { ACCOUNT_LAYOUTS, EVENT_LAYOUTS, type Layout } from './layouts.ts';
import type { TableName, Tables } from './state.ts';

/** Layouts of tables with i64 fields. In the other tables every bigint is a u64. */
const LAYOUTS: Partial<Record<TableName, Layout>> = {
  configs: ACCOUNT_LAYOUTS.ProtocolConfig,
  models: ACCOUNT_LAYOUTS.Model,
  policies: ACCOUNT_LAYOUTS.Policy,
  venues: ACCOUNT_LAYOUTS.VenueAccount,
};

export function isU64(value: bigint): boolean {
  return BigInt.asUintN(64, value) === value;
}

function allFit(values: object, layout: Layout): boolean {
  for (const field in values) {
    const value: unknown = values[field as keyof typeof values];
    if (typeof value !== 'bigint') continue;
    if (layout[field] === 'i64' ? BigInt.asIntN(64, value) !== value : !isU64(value)) return false;
  }
  return true;
}

/** Whether each amount of an account is one that its bytes can hold. */
export function rowFits<T extends TableName>(table: T, row: Tables[T]): boolean {
  return allFit(row, LAYOUTS[table] ?? {});
}

/** The same for an event. */
export function eventFits({ kind, fields }: TypedEvent): boolean {
  return allFit(fields, EVENT_LAYOUTS[kind]);
}
