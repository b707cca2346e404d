import { beforeAll, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import type { LedgerTransaction } from '../../../devnet/chain/ledger.ts';
import { createLife } from '../../../devnet/life/life.ts';
import type { SingleAction } from '../../../devnet/program/actions.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import idl from '../../../schemas/bankroll.idl.json' with { type: 'json' };
import type { Extract } from '../../../schemas/extract/extract.ts';
import { type KnownEvent, summaryOf } from '../../../schemas/program/events.ts';
import { discriminatorOf, INSTRUCTIONS_WITH_EVENT } from '../../../schemas/program/idl.ts';
import type { ChainTransaction } from '../../../schemas/transaction/parts.ts';
import {
  cutAtEveryLine,
  derivedAmounts,
  extracted,
  ledgerAmounts,
  toldByNode,
} from '../support/local-transactions.ts';

const SEED = process.env.DERIVE_SEED ?? 'derive 1';
const SLOTS = 900;

/** Fields of events that no call tells: they are known only from an account. */
const HIDDEN: Partial<Record<string, readonly string[]>> = {
  ProfitSwept: ['profit'],
  AgentSet: ['oldAgent'],
  RemoteEquityReported: ['paused'],
};

interface Ran {
  tx: LedgerTransaction;
  told: ChainTransaction;
  /** Calls of the program that emit. */
  emitting: number;
  /** The extracts with logs cut before each line, and marked as truncated; computed once for all tests. */
  cut: readonly Extract[];
}
let chain: Chain;
let ran: Ran[];

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, cutLogs: { onStream: 0 } });
  const life = createLife(chain, { seed: SEED, policies: 12, rate: 4 });
  const random = createRandom(SEED);
  ran = [];
  for (let made = 0; made < SLOTS; made += 1) {
    const actions = life.next().flatMap((action) => (action.kind === 'batch' ? action.actions : [action]));
    const together = random.chance(0.4) ? [{ kind: 'batch' as const, actions: some(actions) }] : actions;
    const block = await chain.produce(together);
    for (const tx of block.transactions) {
      if (tx.failed !== null || tx.events.length === 0) continue;
      const told = toldByNode(block, tx);
      const emitting = told.calls.filter(({ data }) =>
        INSTRUCTIONS_WITH_EVENT.has(discriminatorOf(data)),
      ).length;
      ran.push({ tx, told, emitting, cut: readCut(told, true) });
    }
  }
  function some(actions: readonly SingleAction[]): readonly SingleAction[] {
    return actions.length > 1 && random.chance(0.3) ? [...actions, ...actions] : actions;
  }
});

function readCut(told: ChainTransaction, isSaid: boolean): Extract[] {
  return Array.from(cutAtEveryLine(told.logs ?? [], isSaid), (logs) => extracted(chain, { ...told, logs }));
}

/** Amounts that a transaction with cut logs never decides. */
const NEVER_TOLD = ['ProfitSwept.profit'];

describe(`transactions with logs cut at each line in turn (seed "${SEED}")`, () => {
  test("give amounts that equal the ledger's, and name everything that they leave undecided", () => {
    const kinds = new Set<string>();
    for (const [at, { tx, told, emitting, cut }] of ran.entries()) {
      const ledger = ledgerAmounts(tx);
      for (const extract of at % 2 === 0 ? cut : readCut(told, false)) {
        if (extract.status === 'undecoded') throw new Error(extract.reason);
        if (extract.status === 'whole') {
          expect(extract.events).toHaveLength(tx.events.length);
          continue;
        }
        const what = extract.undecided?.what ?? [];
        if (emitting === 1) expect(what.filter((name) => !NEVER_TOLD.includes(name))).toEqual([]);
        const derived = derivedAmounts(extract);
        for (const [key, amounts] of derived) {
          expect(ledger.get(key), key).toMatchObject(amounts);
          for (const name of Object.keys(ledger.get(key) ?? {})) {
            const kind = key.split('/')[0] as string;
            if (!(name in amounts)) expect(what).toContain(`${kind}.${name}`);
            kinds.add(kind);
          }
        }
        for (const key of ledger.keys()) {
          const kind = key.split('/')[0] as string;
          if (!derived.has(key) && kind !== 'PolicyPaused') expect(what).toContain(kind);
        }
      }
    }
    expect([...kinds].sort()).toEqual([
      ...['AgentFundedVenue', 'BaseLegBurned', 'BuybackBurned', 'CreditNoted', 'FeesClaimed'],
      ...['PassiveDeployed', 'ProfitSwept', 'Routed'],
    ]);
  });

  test('give a derived event one position wherever they are cut, above all positions of whole transactions', () => {
    for (const { cut } of ran) {
      const seen = new Map<string, number>();
      for (const extract of cut) {
        if (extract.status !== 'derived') continue;
        for (const { event, of, position } of extract.events) {
          const key = `${event}/${of === null ? '' : Buffer.from(of.policy).toString('hex')}`;
          expect(seen.get(key) ?? position).toBe(position);
          expect(position).toBeGreaterThanOrEqual(0x8000);
          seen.set(key, position);
        }
      }
      expect(new Set(seen.values()).size).toBe(seen.size);
    }
  });

  test('give a single event the same summary as whole logs do, except for fields known only from the account', () => {
    const seen = new Set<string>();
    for (const { tx, told, cut } of ran) {
      const [event] = tx.events;
      if (event === undefined || tx.events.length > 1) continue;
      // The first cut leaves no log line.
      const [extract] = cut;
      if (extract?.status !== 'derived') continue;
      const whole = extracted(chain, told);
      if (whole.status !== 'whole') throw new Error(whole.status);
      const [derived] = extract.events;
      const shown = summaryOf(whole.events[0]?.event as KnownEvent);
      for (const hidden of HIDDEN[event.kind] ?? []) delete shown[hidden];
      expect(derived === undefined ? null : summaryOf(derived)).toEqual(shown);
      expect(keysOf(derived)).toEqual(keysOf(whole.events[0]?.event));
      seen.add(event.kind);
    }
    expect(seen.size).toBeGreaterThan(14);
  });

  test.each(Object.entries(HIDDEN))(
    'no field that a derived %s lacks is among the accounts of its call',
    (kind, hidden) => {
      const emitting = idl.instructions.filter(({ docs }) => docs.some((words) => words.includes(kind)));
      expect(emitting).not.toEqual([]);
      const accounts = emitting.flatMap(({ accounts: all }) => all.map(({ name }) => name));
      const camelCase = accounts.map((name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));
      expect(hidden?.filter((field) => camelCase.includes(field))).toEqual([]);
    },
  );
});

const keysOf = (event: KnownEvent | undefined) =>
  Object.values(event?.of ?? {}).map((key: Uint8Array) => Buffer.from(key).toString('hex'));
