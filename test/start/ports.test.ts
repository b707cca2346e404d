import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { devnetPortBase } from '../../start/ports.ts';
import { freePort } from '../support/free-port.ts';

/** The first port that Linux gives to connections by default; other systems begin above it. */
const GIVEN = 32_768;

function dataDir(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'ports-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('the ports of the local chain lie below the ephemeral range, and are the same at every start', async () => {
  for (let at = 0; at < 60; at += 1) {
    const directory = dataDir();
    const base = await devnetPortBase(directory);
    expect(base).toBeGreaterThan(1_023);
    expect(base + 2).toBeLessThan(GIVEN);
    expect(await devnetPortBase(directory)).toBe(base);
  }
});

/** The first of three ports in a row, as an earlier version may have drawn them. */
async function earlier(): Promise<number> {
  for (;;) {
    const base = await freePort();
    if ((await freePort()) === base + 1 && (await freePort()) === base + 2) return base;
  }
}

test('ports drawn by an earlier version are kept as long as no other process has one of them', async () => {
  const directory = dataDir();
  const known = await earlier();
  writeFileSync(path.join(directory, 'devnet-port'), `${known}\n`);
  expect(await devnetPortBase(directory)).toBe(known);

  const other = net.createServer().listen(known + 2, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const base = await devnetPortBase(directory);
  expect(base).not.toBe(known);
  expect(await devnetPortBase(directory)).toBe(base);
});

test.each(['', 'x', '80', '65001', '20000.5'])(
  'a port file that holds no usable port (%s) is written anew',
  async (text) => {
    const directory = dataDir();
    const file = path.join(directory, 'devnet-port');
    writeFileSync(file, text);
    const base = await devnetPortBase(directory);
    expect(readFileSync(file, 'utf8')).toBe(`${base}\n`);
  },
);
