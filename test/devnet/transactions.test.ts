import { beforeAll, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import type { InnerInstruction, LedgerTransaction } from '../../devnet/chain/ledger.ts';
import { createLife } from '../../devnet/life/life.ts';
import { bytesOf, keyOf } from '../../devnet/program/state/keys.ts';
import { ED25519_PROGRAM, NOISE_PROGRAM, ROUTER_PROGRAM } from '../../devnet/program/state/known-programs.ts';
import { extractEvents } from '../../schemas/extract/extract.ts';
import { decodeAccount } from '../../schemas/program/accounts.ts';
import { ACCOUNTS, camelCase, fieldsOf } from '../../schemas/program/idl.ts';
import { decodeCurveConfig, decodePool } from '../../schemas/solana/launchpad.ts';
import { decodeMetadataAccount, decodeMint, decodeTokenAccount } from '../../schemas/solana/token.ts';
import type { ChainTransaction } from '../../schemas/transaction/parts.ts';

const SEED = 'transactions 1';
const SLOTS = 1500;
let chain: Chain;
let transactions: LedgerTransaction[];

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, cutLogs: { onStream: 0.05 } });
  const life = createLife(chain, { seed: SEED, policies: 30 });
  transactions = [];
  for (let made = 0; made < SLOTS; made += 1) {
    transactions.push(...(await chain.produce(life.next())).transactions);
  }
});

function keysOf({ message, loaded }: LedgerTransaction): Uint8Array[] {
  return [...message.accountKeys, ...loaded.writable, ...loaded.readonly];
}

function asRead(tx: LedgerTransaction, logs: string[]): ChainTransaction {
  const keys = keysOf(tx);
  const { numRequiredSignatures: signed, numReadonlySigned, numReadonlyUnsigned } = tx.message.header;
  const listed = tx.message.accountKeys.length;
  const writable = (at: number) => {
    if (at >= listed) return at < listed + tx.loaded.writable.length;
    return at < signed ? at < signed - numReadonlySigned : at < listed - numReadonlyUnsigned;
  };
  const accounts = keys.map((address, at) => ({ address, writable: writable(at) }));
  const at = (index: number) => {
    const account = accounts[index];
    if (account === undefined) throw new Error(`no account ${index}`);
    return account;
  };
  const call = (instruction: Omit<InnerInstruction, 'stackHeight'>, depth: number) => ({
    depth,
    program: at(instruction.programIdIndex).address,
    accounts: instruction.accounts.map(at),
    data: instruction.data,
  });
  const inner = new Map(tx.inner.map((entry) => [entry.index, entry.instructions]));
  const calls = tx.message.instructions.flatMap((instruction, index) => [
    call(instruction, 1),
    ...(inner.get(index) ?? []).map((below) => call(below, below.stackHeight)),
  ]);
  return { failed: tx.failed !== null, calls, depthsTold: true, logs, tokenBalances: () => [] };
}

/** Keys as base58 on both sides, enumerations as the numbers they are on chain. */
function flat(fields: object): Record<string, unknown> {
  const numbers: Record<string, number> = {
    Passive: 0,
    Agent: 1,
    Local: 0,
    Remote: 1,
    authority: 0,
    guardian: 1,
    attestation: 2,
  };
  const plain = (value: unknown) => {
    if (value instanceof Uint8Array && value.length === 32) return keyOf(value);
    if (value instanceof Uint8Array) return [...value];
    return typeof value === 'string' && value in numbers ? numbers[value] : value;
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
}

describe(`transactions of seed "${SEED}"`, () => {
  test('extraction from whole logs yields exactly the events that the program emitted', () => {
    for (const tx of transactions) {
      const read = extractEvents(asRead(tx, tx.logs), bytesOf(chain.programId));
      if (read.status !== 'whole') throw new Error(`it is ${read.status}`);
      expect(read.badEvents).toEqual([]);
      const events = read.events.map(({ event }) => ({
        kind: event.event,
        fields: flat({ ...event.of, ...event.fields }),
      }));
      expect(events).toEqual(tx.events);
      const policies = chain.state().policies;
      const written = tx.failed === null ? tx.writablePolicies : [];
      expect(read.writable.filter((key) => policies.has(key)).sort()).toEqual([...written].sort());
    }
  });

  test('a transaction with cut logs is read as derived, or as whole with all of its events', () => {
    const cut = transactions.filter((tx) => tx.streamLogs.includes('Log truncated') && tx.failed === null);
    expect(cut.length).toBeGreaterThan(20);
    const states = cut.map((tx) => {
      const read = extractEvents(asRead(tx, tx.streamLogs), bytesOf(chain.programId));
      if (read.status === 'whole') expect(read.events.length).toBe(tx.events.length);
      return read.status;
    });
    expect(new Set(states)).toEqual(new Set(['whole', 'derived']));
  });

  test('transactions include every kind of noise: foreign programs, failures, lookup tables, several events', () => {
    const names = (key: string) =>
      transactions.filter((tx) => keysOf(tx).some((bytes) => keyOf(bytes) === key));
    expect(names(NOISE_PROGRAM).length).toBeGreaterThan(50);
    expect(names(ROUTER_PROGRAM).length).toBeGreaterThan(100);
    expect(names(ED25519_PROGRAM).length).toBeGreaterThan(50);
    expect(transactions.filter((tx) => tx.failed !== null).length).toBeGreaterThan(50);
    expect(transactions.filter((tx) => tx.loaded.writable.length > 0).length).toBeGreaterThan(100);
    expect(transactions.filter((tx) => tx.message.lookups === undefined).length).toBeGreaterThan(100);
    expect(names(chain.programId).filter((tx) => !tx.ours).length).toBeGreaterThan(5);
    expect(transactions.filter((tx) => tx.events.length > 1).length).toBeGreaterThan(50);
  });

  test('a failed transaction writes nothing', () => {
    const writers = new Set<string>();
    for (let slot = chain.firstSlot; slot <= chain.tip().slot; slot += 1n) {
      for (const { signature } of chain.block(slot)?.writes ?? []) writers.add(String(signature));
    }
    for (const tx of transactions)
      if (tx.failed !== null) expect(writers.has(String(tx.signature))).toBe(false);
  });

  test('write versions rise through the chain, and a slot writes each account at most once', () => {
    let last = 0n;
    for (let slot = chain.firstSlot; slot <= chain.tip().slot; slot += 1n) {
      const writes = chain.block(slot)?.writes ?? [];
      expect(new Set(writes.map((write) => keyOf(write.address))).size).toBe(writes.length);
      for (const { writeVersion } of writes) {
        expect(writeVersion).toBeGreaterThan(last);
        last = writeVersion;
      }
    }
  });
});

/** Fields with the same value in all accounts of this chain, and why. */
const ALIKE: Record<string, string> = {
  'Origin.max_risk': 'every origin of this deployment takes any risk',
  'ProtocolConfig.paused': 'a pause of all is lifted within slots, and is over at most ends of a life',
};
/** Text of a field that was never written: false, the zero key, zeros. */
const ZERO = /^(false|1{32}|[0,]*)$/;

describe(`accounts of seed "${SEED}"`, () => {
  const data = (address: string) => chain.account(bytesOf(address))?.data ?? new Uint8Array();

  test('the program’s accounts decode to the typed state', () => {
    const state = chain.state();
    for (const table of ['configs', 'origins', 'models', 'policies', 'venues'] as const) {
      expect(state[table].size).toBeGreaterThan(0);
      for (const [address, { address: _, ...fields }] of state[table]) {
        const { type, ...read } = decodeAccount(data(address));
        expect(flat(read)).toMatchObject(fields);
      }
    }
  });

  test('every field differs between accounts, or is not zero in a single one, so that misreading it shows', () => {
    const { configs, origins, models, policies, venues } = chain.state();
    const tables = {
      ...{ ProtocolConfig: configs, Origin: origins, Model: models },
      ...{ Policy: policies, VenueAccount: venues },
    };
    expect(Object.keys(tables).sort()).toEqual([...ACCOUNTS.values()].sort());
    const alike = Object.entries(tables).flatMap(([type, table]) => {
      const accounts: Record<string, unknown>[] = [...table.values()];
      return fieldsOf(type).flatMap(({ name }) => {
        const [value = '', ...others] = new Set(accounts.map((account) => String(account[camelCase(name)])));
        // A single account has no other to differ from: its value must not be zero.
        const differs = others.length > 0 || (accounts.length === 1 && !ZERO.test(value));
        return differs || Object.hasOwn(ALIKE, `${type}.${name}`) ? [] : [`${type}.${name}`];
      });
    });
    expect(alike).toEqual([]);
  });

  test('token accounts, mints, metadata, pools and curves decode to the typed state', () => {
    const state = chain.state();
    for (const [address, { mint, owner, amount }] of state.tokens) {
      expect(flat(decodeTokenAccount(data(address)))).toMatchObject({ mint, owner, amount });
    }
    for (const [address, mint] of state.mints) {
      const read = decodeMint(data(address), bytesOf(address));
      expect([read.decimals, read.supply]).toEqual([mint.decimals, mint.supply]);
      if (mint.metadata === null) expect(read.metadata).toBeNull();
      else expect(read.metadata).toMatchObject(mint.metadata);
    }
    for (const [address, { name, symbol, uri, mint }] of state.metadata) {
      expect(flat(decodeMetadataAccount(data(address)))).toMatchObject({ name, symbol, uri, mint });
    }
    for (const [address, pool] of state.pools) {
      const { supply, status, realBase, realQuote, virtualBase, virtualQuote } = pool;
      const figures = { supply, status, realBase, realQuote, virtualBase, virtualQuote };
      expect(decodePool(data(address))).toMatchObject(figures);
    }
    for (const [address, { curveType }] of state.curves) {
      expect(decodeCurveConfig(data(address))).toEqual({ curveType });
    }
  });
});
