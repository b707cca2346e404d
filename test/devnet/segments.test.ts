import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Chain, type ChainOptions, createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { bytesOf } from '../../devnet/program/state/keys.ts';
import { answersOf, namesOf, textOf, toldOf } from './support/told.ts';

const SEED = process.env.SEED ?? 'segments 1';
const GENESIS = 1_760_000_000_000;
/** Segments of several chunks. */
const SEGMENT_BYTES = 1_200_000;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'segments-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (options: Partial<ChainOptions> = {}) =>
  createChain({ dir, seed: SEED, genesisTime: GENESIS, segmentBytes: SEGMENT_BYTES, ...options });
const ledger = () => path.join(dir, 'ledger.bin');

/** Makes so many blocks. */
async function live(chain: Chain, blocks: number): Promise<Chain> {
  const life = createLife(chain, { seed: SEED, policies: 10, rate: 8 });
  for (let made = 0; made < blocks; made += 1) await chain.produce(life.next());
  return chain;
}

/** Makes blocks, one at a time, until so many segments are in the archive. */
async function liveUntil(chain: Chain, segments: number): Promise<void> {
  const life = createLife(chain, { seed: SEED, policies: 10, rate: 8 });
  while (chain.held().segments < segments) {
    await chain.produce(life.next());
    await turn();
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A long list of signatures, and a block from each part of the chain. */
function newest(chain: Chain): string[] {
  const listed = chain.signaturesFor(bytesOf(chain.programId), null, 10_000);
  const some = listed.filter((_, at) => at % 97 === 0).map(({ slot }) => chain.block(slot));
  return [...listed, ...some].map(textOf);
}

function mustBeAlike(one: Chain, other: Chain): void {
  expect(one.tip().slot).toBe(other.tip().slot);
  for (const names of [namesOf(one), namesOf(other)])
    expect([...toldOf(one, names)]).toEqual([...toldOf(other, names)]);
}

describe(`a ledger in segments (SEED=${SEED})`, () => {
  test('answers everything after restarts as a chain without segments that was never restarted', async () => {
    let chain = open();
    for (const segments of [1, 3, 4]) {
      await liveUntil(chain, segments);
      await live(chain, 3);
      chain.close();
      chain = open();
      expect(chain.held().segments).toBe(segments);
    }
    // The chain ends while a segment is being closed, which stops there.
    while (!chain.held().isClosing) await live(chain, 1);
    for (let turns = 0; turns < 5 && chain.held().isClosing; turns += 1) await turn();
    const { segments } = chain.held();
    chain.close();
    chain = open();
    expect(chain.held().segments).toBe(segments);
    await liveUntil(chain, 5);
    await live(chain, 5);
    const whole = open({ dir: null });
    const life = createLife(whole, { seed: SEED, policies: 10, rate: 8 });
    while (whole.tip().slot < chain.tip().slot) await whole.produce(life.next());
    mustBeAlike(chain, whole);
    const names = namesOf(whole);
    expect(await answersOf(chain, names)).toEqual(await answersOf(whole, names));
    chain.close();
  });

  test('answers the same as a chain without segments while a segment is being closed and blocks are made', async () => {
    const chain = open();
    const whole = open({ dir: null });
    const lives = [chain, whole].map((one) => createLife(one, { seed: SEED, policies: 10, rate: 8 }));
    const both = async () => {
      // Nothing else has its turn in between.
      await chain.produce(lives[0]?.next() ?? []);
      await whole.produce(lives[1]?.next() ?? []);
    };
    let looks = 0;
    for (let segments = 0; segments < 3; segments = chain.held().segments) {
      await both();
      if (!chain.held().isClosing) continue;
      if (segments === 1) mustBeAlike(chain, whole);
      while (chain.held().isClosing) {
        looks += 1;
        if (looks % 2 === 0) await both();
        expect(newest(chain)).toEqual(newest(whole));
        await turn();
      }
    }
    expect(looks).toBeGreaterThan(6);
    chain.close();
    const again = open();
    mustBeAlike(again, whole);
    again.close();
  });

  test('holds fewer blocks in memory than two segments have, however many segments there are', async () => {
    const chain = open();
    const most: number[] = [];
    for (let segments = 1; segments <= 5; segments += 1) {
      await liveUntil(chain, segments);
      most.push(chain.held().blocks);
    }
    // Memory holds at most the blocks of a segment and those made while it was closed.
    const perSegment = [...chain.changes(0)].length / 5;
    expect(Math.max(...most)).toBeLessThan(perSegment * 2);
    chain.close();
    const again = open();
    expect(again.held()).toEqual({ segments: 5, blocks: most.at(-1), isClosing: false });
    again.close();
  });

  test('is made from an unsegmented ledger once that makes blocks again, not by opening it', async () => {
    const before = await live(open({ segmentBytes: 2 ** 30 }), 180);
    before.close();
    const written = readFileSync(ledger());
    const chain = open();
    expect(chain.held().segments).toBeGreaterThan(2);
    // Opening the ledger alone has not changed it.
    expect(readFileSync(ledger()).equals(written)).toBe(true);
    chain.close();
    const again = await live(open(), 10);
    expect(readFileSync(ledger()).length).toBeLessThan(written.length);
    const whole = await live(open({ dir: null }), 190);
    again.close();
    const last = open();
    mustBeAlike(last, whole);
    last.close();
  });

  test('whose archive is truncated or missing is refused, and the error says what to remove', async () => {
    const chain = open();
    await liveUntil(chain, 2);
    chain.close();
    const kept = readFileSync(ledger());
    truncateSync(path.join(dir, 'archive.bin'), 1_000);
    expect(open).toThrow(/archive\.bin ends before what ledger\.bin beside it names: remove it with/);
    rmSync(path.join(dir, 'archive.bin'));
    expect(open).toThrow(/archive\.bin ends before/);
    expect(readFileSync(ledger()).equals(kept)).toBe(true);
  });
});
