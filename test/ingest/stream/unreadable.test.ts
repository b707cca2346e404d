import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../../devnet/program/state/random.ts';
import type { LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { legibility } from '../../../schemas/transaction/legibility.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

const SEED = process.env.SEED ?? 'unreadable-1';
let stage: StreamStage;

beforeAll(async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
});
afterAll(() => stage.close());

const isTransaction = (record: LogRecord): record is TransactionRecord => record.kind === 'transaction';

test(`transactions that cannot be read are missing at once, and read over RPC (seed ${SEED})`, async () => {
  const { chain, geyser, model } = stage;
  const random = createRandom(SEED);
  await stage.live(20);
  const { events } = stage.start();
  await stage.liveUntil('it streams', () => events.some(({ type }) => type === 'released'));
  geyser.faults.spoil(() => random.next());
  await stage.live(120);
  geyser.faults.spoil(null);
  await stage.settled();

  const spoilt = model.order.filter(isTransaction).filter((record) => legibility(record) !== 'whole');
  expect(new Set(spoilt.map(legibility))).toEqual(new Set(['accounts', 'none']));
  // Nothing of a slot that nobody can read counts as known before it was read again.
  for (const record of spoilt.filter((one) => legibility(one) === 'none')) {
    const marked = model.order.findIndex(
      ({ kind, ...of }) => kind === 'marker' && 'slot' in of && of.slot === record.slot,
    );
    const opened = model.order.findIndex((one) => one.kind === 'gap' && one.fromSlot === record.slot);
    expect(opened).toBeGreaterThanOrEqual(0);
    expect(opened).toBeLessThan(marked);
  }
  const readable = (signature: string) =>
    (model.transactions.get(signature) ?? []).some((one) => legibility(one) === 'whole');
  await stage.restUntil('all of it is read', () =>
    ledgerTransactions(chain).every(({ signature }) => readable(signature)),
  );
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  expect(events.filter(({ type }) => type === 'disconnected')).toEqual([]);
});
