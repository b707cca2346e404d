import type * as Fs from 'node:fs';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { bytesOf } from '../../devnet/program/state/keys.ts';
import { blocksOf, textOf } from './support/told.ts';

/** Hooks before every step that reaches the disk, and in the middle of a write. */
const steps = vi.hoisted(() => ({
  seen: (_: string) => {},
  /** By inode: how many bytes were flushed to the disk itself. */
  synced: new Map<number, number>(),
  /** Files that were renamed, with their size and how much of it was flushed. */
  renamed: [] as { size: number; synced: number | undefined }[],
}));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>();
  const told =
    <A extends unknown[], R>(name: string, call: (...args: A) => R) =>
    (...args: A): R => {
      steps.seen(name);
      return call(...args);
    };
  const syncing = (file: number) => {
    const { ino, size } = fs.fstatSync(file);
    steps.synced.set(ino, size);
  };
  return {
    ...fs,
    writeSync: (file: number, bytes: Uint8Array, from: number, size: number, at: number) => {
      steps.seen('write');
      const half = size >> 1;
      fs.writeSync(file, bytes, from, half, at);
      steps.seen('half a write');
      return half + fs.writeSync(file, bytes, from + half, size - half, at + half);
    },
    renameSync: told('rename', (from: string, to: string) => {
      const { ino, size } = fs.statSync(from);
      steps.renamed.push({ size, synced: steps.synced.get(ino) });
      fs.renameSync(from, to);
    }),
    fsync: told('sync', (file: number, done: Fs.NoParamCallback) => {
      syncing(file);
      fs.fsync(file, done);
    }),
    fsyncSync: told('sync', (file: number) => {
      syncing(file);
      fs.fsyncSync(file);
    }),
    ftruncateSync: told('truncate', fs.ftruncateSync),
  };
});

const SEED = process.env.SEED ?? 'kills 1';
/** Segments of two chunks. */
const SEGMENT_BYTES = 1_200_000;
const CLOSED = 2;
const made: string[] = [];
const newDirectory = () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'segment-kills-'));
  made.push(dir);
  return dir;
};
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});
const open = (dir: string | null) =>
  createChain({ dir, seed: SEED, genesisTime: 1_760_000_000_000, segmentBytes: SEGMENT_BYTES });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const lifeOf = (chain: Chain) => createLife(chain, { seed: SEED, policies: 6, rate: 8 });

test(`a kill at any step of closing a segment loses nothing (SEED=${SEED})`, async () => {
  const dir = newDirectory();
  const chain = open(dir);
  const life = lifeOf(chain);
  /** A copy of the directory as a kill at each step leaves it, with the block that was durable then. */
  const left: { copy: string; step: string; slot: bigint }[] = [];
  let durable = chain.tip().slot;
  steps.seen = (step) => {
    if (!chain.held().isClosing) return;
    const copy = newDirectory();
    cpSync(dir, copy, { recursive: true });
    left.push({ copy, step, slot: durable });
  };
  while (chain.held().segments < CLOSED) {
    durable = (await chain.produce(life.next())).slot;
    // One block while a segment is being closed, then wait for the rest.
    if (chain.held().isClosing) {
      durable = (await chain.produce(life.next())).slot;
      while (chain.held().isClosing) await turn();
    }
  }
  steps.seen = () => {};
  chain.close();
  expect(new Set(left.map(({ step }) => step))).toEqual(new Set(['write', 'half a write', 'sync', 'rename']));
  expect(left.length).toBeGreaterThan(CLOSED * 8);
  // At a loss of power a rename may be on the disk before the bytes: so all are flushed first.
  expect(steps.renamed).toHaveLength(CLOSED);
  for (const { size, synced } of steps.renamed) expect(synced).toBe(size);

  const whole = open(null);
  const itsLife = lifeOf(whole);
  const furthest = durable + 20n;
  while (whole.tip().slot < furthest) await whole.produce(itsLife.next());
  const blocks = [...blocksOf(whole)];
  const program = bytesOf(whole.programId);
  const listed = whole.signaturesFor(program, null, 1_000_000).map(textOf);
  for (const { copy, slot } of left) {
    const opened = open(copy);
    const { slot: tip } = opened.tip();
    expect(tip >= slot && tip <= furthest).toBe(true);
    const goesOn = lifeOf(opened);
    for (let more = 0; more < 4; more += 1) await opened.produce(goesOn.next());
    const upTo = opened.tip().slot;
    for (let slot = upTo; slot >= whole.firstSlot; slot -= slot > upTo - 30n ? 1n : 5n)
      expect(textOf(opened.block(slot))).toBe(blocks[Number(slot - whole.firstSlot)]);
    const older = whole.signaturesFor(program, null, 1_000_000).filter((entry) => entry.slot <= upTo);
    expect(opened.signaturesFor(program, null, 1_000_000).map(textOf)).toEqual(
      listed.slice(listed.length - older.length),
    );
    while (opened.held().isClosing) await turn();
    const segments = opened.held();
    opened.close();
    const again = open(copy);
    expect(again.held()).toEqual(segments);
    expect(again.tip().slot).toBe(upTo);
    again.close();
  }
});

test(`a write that fails while a segment is closed ends the chain and loses nothing (SEED=${SEED})`, async () => {
  const dir = newDirectory();
  const chain = open(dir);
  const life = lifeOf(chain);
  let isMaking = false;
  steps.seen = (step) => {
    if (chain.held().isClosing && !isMaking && step === 'write') throw new Error('no space left');
  };
  let durable = chain.tip().slot;
  const goOn = async () => {
    for (;;) {
      isMaking = true;
      durable = (await chain.produce(life.next())).slot;
      isMaking = false;
      await turn();
    }
  };
  await expect(goOn()).rejects.toThrow('no space left');
  steps.seen = () => {};
  chain.close();
  const again = open(dir);
  expect(again.tip().slot).toBe(durable);
  const itsLife = lifeOf(again);
  while (again.held().segments === 0) {
    await again.produce(itsLife.next());
    await turn();
  }
  const whole = open(null);
  const wholeLife = lifeOf(whole);
  while (whole.tip().slot < again.tip().slot) await whole.produce(wholeLife.next());
  expect([...blocksOf(again)]).toEqual([...blocksOf(whole)]);
  again.close();
});
