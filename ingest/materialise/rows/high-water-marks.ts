import { createLru } from '../../../runtime/lru.ts';
import type { Policy } from '../../../schemas/program/accounts.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { versionOfLowest } from './lowest-slot.ts';

/** Policies whose mark is remembered; beyond that, rows are written that say nothing new. */
const MOST_REMEMBERED = 200_000;

/** The first slot in which a policy was seen with a mark. */
export interface MarkRow {
  policy: string;
  hwm: string;
  profit_swept: string;
  slot: string;
  before: string;
}

/** The marks of a batch of states, each with its lowest slot. */
export function createMarks() {
  const seen = new Map<string, { address: Uint8Array; slot: bigint; hwm: bigint; profitSwept: bigint }>();
  return {
    add: (
      key: string,
      { address, slot }: Pick<AccountRecord, 'address' | 'slot'>,
      { hwm, profitSwept }: Pick<Policy, 'hwm' | 'profitSwept'>,
    ) => {
      const name = `${key} ${hwm} ${profitSwept}`;
      const known = seen.get(name);
      if (known === undefined || known.slot > slot) seen.set(name, { address, slot, hwm, profitSwept });
    },
    rows: (): MarkRow[] =>
      [...seen.values()].map(({ address, slot, hwm, profitSwept }) => ({
        policy: encodeBase58(address),
        hwm: hwm.toString(),
        profit_swept: profitSwept.toString(),
        slot: slot.toString(),
        before: versionOfLowest(slot),
      })),
  };
}

/** Marks that this process has not written yet: most states of a policy have the one of the state before. */
export interface NewMarks {
  of(rows: readonly MarkRow[]): MarkRow[];
  /** Notes that these rows are written. */
  wrote(rows: readonly MarkRow[]): void;
}

export function createNewMarks(): NewMarks {
  const written = createLru<{ mark: string; slot: bigint }>(MOST_REMEMBERED);
  const markOf = ({ hwm, profit_swept }: MarkRow) => `${hwm} ${profit_swept}`;
  return {
    of: (rows) =>
      rows.filter((row) => {
        const told = written.get(row.policy);
        return told === undefined || told.mark !== markOf(row) || told.slot > BigInt(row.slot);
      }),
    wrote: (rows) => {
      for (const row of rows) written.set(row.policy, { mark: markOf(row), slot: BigInt(row.slot) });
    },
  };
}
