import type { Chain } from '../../../devnet/chain/chain.ts';
import type { Block, LedgerTransaction } from '../../../devnet/chain/ledger.ts';
import { transactionJson } from '../../../devnet/rpc/transaction.ts';
import { type Extract, extractEvents } from '../../../schemas/extract/extract.ts';
import { EVENT_KINDS, type EventKind } from '../../../schemas/program/event-kinds.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import type { ChainTransaction } from '../../../schemas/transaction/parts.ts';
import { readTransaction } from '../../../schemas/transaction/transaction.ts';

const FORM = { withIndex: true, versionOne: false, withTime: true };

/** A transaction of the local chain as its RPC node answers it. */
export function toldByNode(block: Block, tx: LedgerTransaction): ChainTransaction {
  const payload = Buffer.from(
    JSON.stringify(transactionJson(block, tx, { ...FORM, recorded: true, bare: false })),
  );
  return readTransaction({ format: 'json', payload });
}

export const extracted = (chain: Chain, tx: ChainTransaction): Extract =>
  extractEvents(tx, decodeKey(chain.programId) as Uint8Array);

/** Amounts of a transaction's events, by kind and policy, as the chain's ledger has them. */
export function ledgerAmounts({ events }: LedgerTransaction): Map<string, Record<string, bigint>> {
  const sums = new Map<string, Record<string, bigint>>();
  for (const { kind, fields } of events) {
    const key = `${kind}/${'policy' in fields ? fields.policy : ''}`;
    const known = sums.get(key) ?? {};
    for (const name of EVENT_KINDS[kind].amounts as readonly string[])
      known[name] = (known[name] ?? 0n) + ((fields as unknown as Record<string, bigint>)[name] ?? 0n);
    sums.set(key, known);
  }
  return sums;
}

/** The same amounts as derived; one that is not decided is left out. */
export function derivedAmounts(
  extract: Extract & { status: 'derived' },
): Map<string, Record<string, bigint>> {
  return new Map(
    extract.events.map(({ event, of, fields }) => [
      `${event}/${of === null ? '' : encodeBase58(of.policy)}`,
      Object.fromEntries(
        (EVENT_KINDS[event as EventKind].amounts as readonly string[])
          .filter((name) => fields[name] !== undefined)
          .map((name) => [name, fields[name] as bigint]),
      ),
    ]),
  );
}

/** Logs cut behind each line in turn: by the runtime, which says so, or without `isSaid` by a relay, which does not. */
export function* cutAtEveryLine(logs: readonly string[], isSaid = true): Generator<string[]> {
  for (let kept = 0; kept < logs.length; kept += 1)
    yield [...logs.slice(0, kept), ...(isSaid ? ['Log truncated'] : [])];
}
