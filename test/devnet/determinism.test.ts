import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Chain, type ChainOptions, createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';

const POLICIES = 12;
const GENESIS = 1_760_000_000_000;
const SEED = 'determinism 1';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'devnet-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (options: Partial<ChainOptions> = {}) =>
  createChain({ dir: null, seed: SEED, genesisTime: GENESIS, ...options });

async function live(chain: Chain, untilSlot: bigint, seed = SEED): Promise<void> {
  const life = createLife(chain, { seed, policies: POLICIES });
  while (chain.tip().slot < untilSlot) await chain.produce(life.next());
}

/** Everything the chain would show a reader, hashed. */
function fingerprint(chain: Chain): string {
  const hash = createHash('sha256');
  const plain = (_: string, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
    return value;
  };
  for (let slot = chain.firstSlot; slot <= chain.tip().slot; slot += 1n) {
    hash.update(JSON.stringify(chain.block(slot), plain) ?? 'skipped');
  }
  for (const address of [...chain.state().written()].sort()) {
    hash.update(`${address} ${JSON.stringify(chain.state().lastWrite(address), plain)}`);
  }
  const mine = chain.tip().writes.map((write) => chain.account(write.address));
  return hash.update(JSON.stringify(mine, plain)).digest('hex');
}

describe('a chain made from a seed', () => {
  test('the same seed makes the same chain byte for byte, another seed a different one', async () => {
    const [one, two] = [open(), open()];
    await live(one, 400n);
    await live(two, 400n);
    expect(fingerprint(one)).toBe(fingerprint(two));
    const other = open({ seed: 'determinism 2' });
    await live(other, 400n, 'determinism 2');
    expect(fingerprint(other)).not.toBe(fingerprint(one));
  });

  test('block times are the genesis time plus 400 ms a slot, in whole seconds, and some slots are skipped', async () => {
    const chain = open();
    await live(chain, 300n);
    let skipped = 0;
    for (let slot = chain.firstSlot; slot <= chain.tip().slot; slot += 1n) {
      const block = chain.block(slot);
      if (block === null) skipped += 1;
      else expect(block.blockTime).toBe(Math.floor((GENESIS + Number(slot) * 400) / 1000));
    }
    expect(skipped).toBeGreaterThan(0);
  });
});

describe('a ledger in a directory', () => {
  test('continues after several SIGKILLs as the same chain as one that was never killed', async () => {
    let reached = 0n;
    for (const blocks of [40, 90, 150]) {
      const child = spawn(process.execPath, [
        path.join(import.meta.dirname, 'grow.ts'),
        dir,
        SEED,
        String(POLICIES),
      ]);
      let seen = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        reached = BigInt(line);
        seen += 1;
        if (seen === blocks) child.kill('SIGKILL');
      }
      const opened = open({ dir });
      expect(opened.tip().slot).toBeGreaterThanOrEqual(reached);
      opened.close();
    }
    const killed = open({ dir });
    const whole = open();
    const end = killed.tip().slot + 60n;
    await live(killed, end);
    await live(whole, end);
    expect(fingerprint(killed)).toBe(fingerprint(whole));
    killed.close();
  });

  test('that is corrupt in the middle is refused with the byte offset, and its file is left unchanged', async () => {
    const chain = open({ dir });
    await live(chain, 60n);
    chain.close();
    const file = path.join(dir, 'ledger.bin');
    const written = readFileSync(file);
    written.fill(7, written.length >> 1, (written.length >> 1) + 100);
    writeFileSync(file, written);
    expect(() => open({ dir })).toThrow(/ledger\.bin is broken at byte \d+ and goes on behind it/);
    expect(readFileSync(file).equals(written)).toBe(true);
  });

  test('drops a torn record at its end and continues as the same chain', async () => {
    const chain = open({ dir });
    await live(chain, 120n);
    chain.close();
    appendFileSync(path.join(dir, 'ledger.bin'), Buffer.from([200, 0, 0, 0, 1, 2, 3, 4, 5, 6]));
    const reopened = open({ dir });
    const whole = open();
    await live(reopened, 200n);
    await live(whole, 200n);
    reopened.close();
    const again = open({ dir });
    expect(fingerprint(again)).toBe(fingerprint(whole));
    again.close();
  });

  test('refuses to be opened with another seed', () => {
    open({ dir }).close();
    expect(() => open({ dir, seed: 'another' })).toThrow(/holds the chain of seed determinism 1/);
  });
});
