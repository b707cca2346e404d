import type { LostBefore } from '../../../../ingest/stream/followed-stream/carried.ts';
import type { LogRecord } from '../../../../schemas/records.ts';
import { encodeBase58 } from '../../../../schemas/solana/base58.ts';

/** The addresses that no stream carries at the end of a log, by what it says. */
export function uncarriedOf(log: readonly LogRecord[]): LostBefore[] {
  const told = log.filter((record) => record.kind === 'carried');
  return [...Map.groupBy(told, ({ address }) => encodeBase58(address))].flatMap(([address, records]) => {
    const slots = (carried: boolean) =>
      records
        .filter((record) => record.carried === carried)
        .map(({ slot }) => slot)
        .sort((one, other) => (one < other ? -1 : 1));
    const begun = slots(true).at(-1) ?? 0n;
    const losses = slots(false).filter((slot) => slot >= begun);
    const [first, last] = [losses[0], losses.at(-1)];
    return first === undefined || last === undefined ? [] : [{ address, first, last }];
  });
}
