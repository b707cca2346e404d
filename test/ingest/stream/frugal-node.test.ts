import { afterEach, expect, test } from 'vitest';
import { AGENT, type ProtocolConfig } from '../../../devnet/program/state/state.ts';
import { mannersNamed } from '../../../devnet/rpc/manners.ts';
import { PlaceUnknownError } from '../../../ingest/history/gap.ts';
import { signaturePages } from '../../../ingest/history/signature-pages.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { configAddress, modelAddress, originAddress } from '../../../schemas/solana/pda.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage, until } from '../support/stream-stage.ts';

const SEED = process.env.SEED ?? 'frugal-1';

let stage: StreamStage;
afterEach(() => stage?.close());

test(`with an RPC node that only serves filtered lists and small requests, the log matches the ledger (seed ${SEED})`, async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10, modes: { addresses: 0 } });
  stage.rpc.faults.behave(mannersNamed(['frugal']));
  const { chain, model, rpc } = stage;
  await stage.live(60);
  const { events } = stage.start({ compareMs: 100 });
  await stage.settled();
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  const missing = ledgerTransactions(chain).filter(({ signature }) => !model.transactions.has(signature));
  expect(missing).toEqual([]);
  // The list has every account that history names.
  const listed = () => events.filter((event) => event.type === 'listed').map((event) => event.listed);
  await stage.restUntil('its list is proved', () => listed().at(-1) === 'proved');
  expect(listed().filter((one) => one === 'refused' || one === 'part')).toEqual([]);
  expect(rpc.asked('getProgramAccounts')).toBeGreaterThan(1);
});

test('an RPC node that refuses getProgramAccounts is reported, and known accounts are still read', async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
  stage.rpc.faults.behave({ scans: 'none' });
  const { chain, model } = stage;
  await stage.live(1);
  const { events } = stage.start();
  await stage.liveUntil('it is told', () =>
    events.some((event) => event.type === 'listed' && event.listed === 'refused'),
  );
  await stage.live(40);
  await stage.settled();
  const known = () => wrongStates(chain, model).filter((one) => !one.endsWith('was never read'));
  await stage.restUntil('what is known is the newest', () => model.accounts.size > 0 && known().length === 0);
});

test('accounts are still read from an RPC node without getBlockTime, also at slots ahead of the stream', async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10, modes: { addresses: 0 } });
  stage.rpc.faults.behave({ lacks: ['getBlockTime'] });
  const { chain, geyser, model } = stage;
  await stage.live(60);
  stage.start();
  await stage.settled();
  const { slot: tip } = chain.tip();
  geyser.faults.stall(true);
  await stage.live(10);
  const isAhead = ({ source, slot, blockTime }: AccountRecord) =>
    source === 'rpc' && slot > tip && blockTime === null;
  await until('what the stream has not come to is read', () => [...model.accounts.values()].some(isAhead));
  geyser.faults.stall(false);
  await stage.settled();
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
});

test('where no node lists accounts, those named by history are read, with their configuration, origins and models', async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
  stage.rpc.faults.behave(mannersNamed(['unlisted']));
  const { chain, model } = stage;
  await stage.live(60);
  const { policies, venues } = chain.state();
  /** The store's answer: accounts that events name and that were never read. */
  model.unreadAccounts = async () => [
    ...[...policies.keys()].map((policy) => ({ policy, token_account: '' })),
    ...[...venues.values()].map(({ policy, tokenAccount }) => ({ policy, token_account: tokenAccount })),
  ];
  stage.start({ compareMs: 100 });
  await stage.settled();
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  const program = decodeKey(chain.programId) as Uint8Array;
  const named = [...policies.values()].flatMap(({ originId, modelId }) => [
    originAddress(program, originId),
    ...(modelId > 0 ? [modelAddress(program, modelId)] : []),
  ]);
  const unread = [configAddress(program), ...named].filter((one) => !model.accounts.has(encodeBase58(one)));
  expect(unread).toEqual([]);
});

test('a model that a policy is set to is read, although it was registered before the stream began and is not listed', async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
  stage.rpc.faults.behave({ scans: 'none' });
  const { chain, model } = stage;
  await stage.live(60);
  const { admin } = [...chain.state().configs.values()][0] as ProtocolConfig;
  const registered = { id: 900, name: 'of before', provider: 'nobody', enabled: true };
  await chain.produce([{ kind: 'register_model', by: admin, ...registered }]);
  stage.start();
  await stage.settled();
  const settable = () =>
    [...chain.state().policies].find(
      ([address, { mode, locked }]) => mode === AGENT && !locked && model.accounts.has(address),
    )?.[1];
  await stage.liveUntil('a policy of an agent is known', () => settable() !== undefined);
  const policy = settable() as NonNullable<ReturnType<typeof settable>>;
  const at = encodeBase58(modelAddress(decodeKey(chain.programId) as Uint8Array, registered.id));
  expect(model.accounts.has(at)).toBe(false);
  const terms = { ...policy, modelId: registered.id };
  await chain.produce([{ kind: 'set_policy', mint: policy.mint, by: policy.authority, terms }]);
  expect([...chain.state().policies.values()].some(({ modelId }) => modelId === registered.id)).toBe(true);
  await stage.restUntil('its model is read', () => model.accounts.has(at));
});

test('a refused cursor of getSignaturesForAddress throws PlaceUnknownError; a refused first page throws the refusal', async () => {
  stage = await openStreamStage({ seed: SEED, policies: 3 });
  await stage.live(20);
  const rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  const refusal = new RpcError('refused', 'no such signature', { code: -32602 });
  const pages = (everything: boolean) =>
    signaturePages({
      rpc: {
        ...rpc,
        getSignaturesForAddress: async (address, before, ...rest) => {
          if (everything || before !== null) throw refusal;
          return rpc.getSignaturesForAddress(address, before, ...rest);
        },
      },
      ...{ address: stage.chain.programId, before: 'a place', minContextSlot: 0n, downTo: 0n },
      signal: new AbortController().signal,
    });
  const failure = await pages(false)
    .next()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PlaceUnknownError);
  // The error may be served, so it must not contain the node's own words.
  expect((failure as Error).message).not.toContain(refusal.message);
  await expect(pages(true).next()).rejects.toBe(refusal);
});
