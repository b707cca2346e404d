import type { Store } from '../../clickhouse/client.ts';
import { sweptProfits } from '../../clickhouse/queries/progress/swept-profits.ts';
import { PROFIT } from '../../schemas/incomplete.ts';
import type { ProfitRecord, TransactionRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { type Facts, factsYielding } from './rows/facts.ts';

export interface ProfitRow {
  signature: string;
  policy: string;
  profit: string;
}

export const profitRows = (records: readonly ProfitRecord[]): ProfitRow[] =>
  records.map(({ signature, policy, profit }) => ({
    ...{ signature: encodeBase58(signature), policy },
    profit: profit.toString(),
  }));

/** The facts of a batch of transactions, with the settled profits of those whose own logs do not tell them. */
export async function settledFacts(
  store: Store,
  records: readonly TransactionRecord[],
  programId: Uint8Array,
  { partition, told }: { partition: number; told: readonly ProfitRow[] },
): Promise<Facts> {
  const facts = await factsYielding(records, programId, partition);
  const lacking = facts.incomplete.filter(({ missing }) => missing.includes(PROFIT));
  if (lacking.length === 0) return facts;
  const signatures = lacking.map(({ signature }) => signature);
  const known = [...(await sweptProfits(store, signatures)), ...told];
  const profits = new Map<string, Map<string, bigint>>();
  for (const { signature, policy, profit } of known) {
    const of = profits.get(signature) ?? new Map<string, bigint>();
    profits.set(signature, of.set(policy, BigInt(profit)));
  }
  return profits.size === 0 ? facts : factsYielding(records, programId, partition, profits);
}
