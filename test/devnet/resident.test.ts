import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import { writeKeyFile } from '../../devnet/key-file.ts';
import { CAST_CLASSES } from '../../devnet/life/cast.ts';
import { createLife } from '../../devnet/life/life.ts';
import { residentOf } from '../../devnet/life/resident.ts';
import { AGENT, REMOTE } from '../../devnet/program/state/state.ts';

const SEED = process.env.SEED ?? 'resident';

test(`the agent whose key is handed out is never replaced, while other agents are (SEED=${SEED})`, async () => {
  const chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed: SEED, policies: 12, rate: 10 });
  const { mint, keypair } = residentOf(SEED);
  const policyOf = (of: string) => chain.state().policies.get(chain.addresses.ofPolicy(of).policy);
  const rotated = new Set<string>();
  const first = new Map<string, string>();
  for (let block = 0; block < 400; block += 1) {
    await chain.produce(life.next());
    for (const policy of chain.state().policies.values()) {
      const before = first.get(policy.mint) ?? policy.agent;
      first.set(policy.mint, before);
      if (policy.agent !== before) rotated.add(policy.mint);
    }
  }
  expect(policyOf(mint)).toMatchObject({ mode: AGENT, agent: keypair.key });
  expect(rotated.size).toBeGreaterThan(0);
  expect(rotated).not.toContain(mint);
});

test(`the first two policies have a Remote account at each venue, attested from its first block (SEED=${SEED})`, async () => {
  const chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed: SEED, policies: 2, rate: 4 });
  const classes = new Map<string, Set<number>>();
  for (let block = 0; block < 200; block += 1) {
    await chain.produce(life.next());
    for (const { policy, kind, assetClass, remoteAsof } of chain.state().venues.values()) {
      const own = classes.get(policy) ?? new Set();
      // Only the first account of a class is attested from its registration on.
      if (kind !== REMOTE || own.has(assetClass)) continue;
      classes.set(policy, own.add(assetClass));
      if (CAST_CLASSES.includes(assetClass)) expect(remoteAsof).toBeGreaterThan(0n);
    }
  }
  expect([...classes.values()].map((own) => CAST_CLASSES.every((bit) => own.has(bit)))).toEqual([true, true]);
});

test('the key file is readable by its owner alone, also when it replaces a file open to others', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'resident-'));
  writeFileSync(path.join(directory, 'agent.json'), 'old', { mode: 0o644 });
  const { keypair } = residentOf(SEED);
  const file = writeKeyFile(directory, keypair.secretKey);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([...keypair.secretKey]);
  rmSync(directory, { recursive: true, force: true });
});
