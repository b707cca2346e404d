import type { Gap } from '../../history/gap.ts';
import type { Backfilled } from './run.ts';

const slotsOf = ({ fromSlot, toSlot }: Gap): string => `${fromSlot} to ${toSlot}`;

/** Lines for the operator: what was read and closed, then each gap that stays open with what is to be done. */
export function outcome({ accounts, transactions, closed, left }: Backfilled, begin: bigint): string[] {
  const gaps = closed.map(slotsOf).join(', ') || 'none';
  return [
    `${accounts} accounts, ${transactions} transactions; gaps closed: ${gaps}`,
    ...left.map((gap) => `gap ${slotsOf(gap)} stays open: ${whyOpen(gap, begin)}`),
  ];
}

const whyOpen = ({ fromSlot }: Gap, begin: bigint): string =>
  fromSlot < begin
    ? `it begins before slot ${begin}; run it again with --from-slot ${fromSlot}`
    : 'it ends less than 32 slots before the tip that there was as this began; ingest reads it, or run it again later';

/** A line for each thing that should have been read and was not, with what is to be done; none where all was read. */
export function unreadLines({ unlisted, isPart, leftOut, unread }: Backfilled): string[] {
  return [
    ...(unlisted === null
      ? []
      : [
          `no node lists the accounts of the program (${unlisted}): only those that were known are read; name one in SOLANA_RPC_URL that has getProgramAccounts, and run it again`,
        ]),
    ...(isPart
      ? [
          "the list of the program's accounts (getProgramAccounts) lacks some that are there: of those the ones are read that something names; name another node in SOLANA_RPC_URL, and run it again",
        ]
      : []),
    ...leftOut.map(
      (address) =>
        `account ${address} cannot be read, and stands as it was known before; name a node in SOLANA_RPC_URL that reads it, and run it again`,
    ),
    ...unread.map(
      ({ signature, fromSlot }) =>
        `transaction ${signature} cannot be read, and slot ${fromSlot} stays a gap; name a node in SOLANA_RPC_URL that has it, and run it again`,
    ),
  ];
}
