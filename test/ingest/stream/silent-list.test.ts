import { afterEach, expect, test } from 'vitest';
import type { ListStatus } from '../../../ingest/stream/sweeps/list-proof.ts';
import { createSweeper } from '../../../ingest/stream/sweeps/sweep.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { account, key, rawKey } from '../materialise/support/records.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage, until } from '../support/stream-stage.ts';

const SEED = process.env.SEED ?? 'silent-1';
const PROGRAM = rawKey('program');
const COMPARE_MS = 10;

let stop = new AbortController();
let stage: StreamStage | null = null;
afterEach(async () => {
  stop.abort();
  await stage?.close();
  stage = null;
});

type Form = 'whole' | 'prefix' | 'read';

const lists = ({ asked }: { asked: readonly Form[] }) => asked.filter((form) => form !== 'read');

interface Manners {
  compareMs?: number;
  /** A form of request that fails does so after this long. */
  failsAfterMs?: number;
}

/** A sweeper over a node that fails what `fails` says. */
function sweeping(
  fails: (form: Form, lists: number) => RpcError | null,
  { compareMs = COMPARE_MS, failsAfterMs = 0 }: Manners = {},
) {
  stop = new AbortController();
  const seen = { sent: [] as LogRecord[], listed: [] as ListStatus[], asked: [] as Form[], compared: 0 };
  const answer = async <T>(form: Form, what: T): Promise<T> => {
    seen.asked.push(form);
    const failure = fails(form, lists(seen).length);
    if (failure === null) return what;
    if (failsAfterMs > 0) await new Promise((resolve) => setTimeout(resolve, failsAfterMs));
    throw failure;
  };
  const gone = (address: string, slot: bigint): AccountRecord => ({
    ...account('any', rawKey('system'), new Uint8Array(8)),
    ...{ source: 'rpc', slot, address: decodeKey(address) as Uint8Array, lamports: 0n },
  });
  const sweeper = createSweeper({
    reader: {
      read: async (addresses: readonly string[], notBefore: bigint) =>
        answer(
          'read',
          addresses.map((address) => gone(address, notBefore)),
        ),
      readProgram: async () => answer('whole', []),
      readByPrefix: async () => answer('prefix', []),
    } as never,
    ...{ programId: PROGRAM, addresses: () => [key('followed')], mints: () => [], brought: () => 9n },
    ...{ named: async () => [], isKnown: () => true, compareMs, learn: () => {} },
    isHistoryRead: async () => {
      seen.compared += 1;
      return true;
    },
    onListed: (listed) => seen.listed.push(listed),
    send: async (records) => void seen.sent.push(...records),
    ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  return { sweeper, seen };
}

const timedOut = () => new RpcError('unreachable', 'getProgramAccounts: HTTP 504 without JSON');

test('a node that answers all but the account list is reported, and known accounts are still read and compared', async () => {
  const { sweeper, seen } = sweeping((form) => (form === 'read' ? null : timedOut()));
  sweeper.request(9n);
  await until('it is told', () => seen.listed.length > 0);
  expect(seen.listed[0]).toBe('silent');
  expect(lists(seen).slice(0, 3)).toEqual(['whole', 'prefix', 'whole']);
  await until('it is read', () => seen.sent.length > 0);
  await until('it is compared', () => seen.compared > 1);
  await until('it is asked for again', () => lists(seen).length > 5);
  // The long list is asked for once at a time, and rarely.
  expect(lists(seen).slice(3)).toEqual(
    lists(seen)
      .slice(3)
      .map((_, at) => (at % 2 === 0 ? 'prefix' : 'whole')),
  );
  expect(seen.compared).toBeGreaterThan(10);
});

test('a list that fails for a moment is retried, and the next sweep asks for the whole list first again', async () => {
  const { sweeper, seen } = sweeping((form, many) => (form !== 'read' && many < 4 ? timedOut() : null), {
    compareMs: 60_000,
  });
  for (const told of [1, 2]) {
    sweeper.request(9n);
    await until('it is told', () => seen.listed.filter((one) => one !== 'proved').length >= told);
  }
  expect(lists(seen)).toEqual(['whole', 'prefix', 'whole', 'prefix', 'whole']);
  expect(new Set(seen.listed)).toEqual(new Set(['unproved', 'proved']));
});

test('a list that was not answered is requested again after one pause', async () => {
  const { sweeper, seen } = sweeping((form, many) => (form !== 'read' && many < 4 ? timedOut() : null), {
    compareMs: 200,
  });
  sweeper.request(9n);
  await until('it is told', () => seen.listed.length > 0);
  const before = seen.compared;
  await until('it is listed', () => seen.listed.includes('unproved'));
  expect(seen.listed.slice(0, 2)).toEqual(['silent', 'unproved']);
  expect(seen.compared - before).toBeLessThan(5);
});

test('a node that answers in time only for the list by prefix is asked for that from then on', async () => {
  const { sweeper, seen } = sweeping((form) => (form === 'whole' ? timedOut() : null), { failsAfterMs: 20 });
  for (const told of [1, 2]) {
    sweeper.request(9n);
    await until('it is listed', () => seen.listed.filter((one) => one === 'unproved').length === told);
  }
  expect(lists(seen)).toEqual(['whole', 'prefix', 'prefix']);
  expect(new Set(seen.listed)).toEqual(new Set(['unproved', 'proved']));
});

test('while a node answers nothing at all, the list is retried and not reported as silent', async () => {
  const { sweeper, seen } = sweeping((_, many) => (many < 5 ? timedOut() : null));
  sweeper.request(9n);
  await until('it is listed', () => seen.listed.length > 0);
  expect(seen.listed[0]).toBe('unproved');
  expect(lists(seen).length).toBe(5);
});

test(`where the account list times out, all that the stream or history names matches the ledger (seed ${SEED})`, async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
  stage.rpc.faults.behave({ scans: 'silent' });
  const { chain, model, rpc } = stage;
  await stage.live(1);
  const { events } = stage.start({ compareMs: 100 });
  const listed = () => events.flatMap((event) => (event.type === 'listed' ? [event.listed] : []));
  await stage.liveUntil('it is told', () => listed().includes('silent'));
  await stage.live(40);
  await stage.settled();
  const known = () => wrongStates(chain, model).filter((one) => !one.endsWith('was never read'));
  const missing = () =>
    ledgerTransactions(chain).filter(({ signature }) => !model.transactions.has(signature));
  await stage.restUntil('what is known is the newest', () => model.accounts.size > 0 && known().length === 0);
  await stage.restUntil('no transaction is missing', () => missing().length === 0);
  rpc.faults.behave({ scans: 'any' });
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  await stage.restUntil('its list is proved', () => listed().at(-1) === 'proved');
});
