import { verify } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import type { Block, StoredAccount } from '../../devnet/chain/ledger.ts';
import { agentKeypair, agentKeypairOf } from '../../devnet/life/agent-keys.ts';
import { createLife } from '../../devnet/life/life.ts';
import { bytesOf, keyOf } from '../../devnet/program/state/keys.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM } from '../../devnet/program/state/known-programs.ts';

const SEED = 'ledger 1';
let chain: Chain;
const heard: Block[] = [];

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000 });
  chain.subscribe((block) => heard.push(block));
  const life = createLife(chain, { seed: SEED, policies: 20, rate: 4 });
  for (let made = 0; made < 1200; made += 1) await chain.produce(life.next());
});

describe(`the ledger of seed "${SEED}"`, () => {
  test('every block names its parent, and subscribers get each block once, in order', () => {
    let parent = chain.firstSlot;
    for (const block of heard) {
      expect(block.parent).toBe(parent);
      parent = block.slot;
    }
    expect(parent).toBe(chain.tip().slot);
  });

  test('signatures of the program come newest first, page by page, without a hole', () => {
    const program = bytesOf(chain.programId);
    const all = chain.signaturesFor(program, null, 1_000_000);
    const paged: typeof all = [];
    for (let page = chain.signaturesFor(program, null, 97); page.length > 0; ) {
      paged.push(...page);
      page = chain.signaturesFor(program, page.at(-1)?.signature ?? null, 97);
    }
    expect(paged).toEqual(all);
    const ours = heard.flatMap((block) => block.transactions.filter((tx) => tx.ours));
    const listed = new Set(all.map((entry) => String(entry.signature)));
    for (const tx of ours) expect(listed.has(String(tx.signature))).toBe(true);
    for (const [at, entry] of all.slice(1).entries()) {
      const newer = all[at];
      if (newer === undefined) throw new Error('hole');
      expect(newer.slot > entry.slot || (newer.slot === entry.slot && newer.index > entry.index)).toBe(true);
    }
  });

  test('a transaction is found by its signature, as it was in its block', () => {
    for (const block of heard.slice(0, 50)) {
      for (const tx of block.transactions) {
        expect(chain.transaction(tx.signature)).toEqual({ block, tx });
      }
    }
    expect(chain.transaction(new Uint8Array(64))).toBeNull();
  });

  test('the account at the tip is its last write, and a closed one belongs to the system program', () => {
    const last = new Map(
      heard.flatMap((block) => block.writes.map((write) => [keyOf(write.address), { write, block }])),
    );
    let closed = 0;
    for (const [address, { write, block }] of last) {
      expect(chain.account(bytesOf(address))).toEqual({ ...write, slot: block.slot });
      if (write.lamports > 0n) continue;
      closed += 1;
      expect([keyOf(write.owner), write.data.length]).toEqual([SYSTEM_PROGRAM, 0]);
    }
    expect(closed).toBeGreaterThan(0);
  });

  test('accountsByOwner lists each open account of an owner, as it was last written, and no other', () => {
    const genesis = chain.block(chain.firstSlot) as Block;
    const last = new Map<string, StoredAccount>();
    for (const { slot, writes } of [genesis, ...heard])
      for (const write of writes) last.set(keyOf(write.address), { ...write, slot });
    for (const owner of [chain.programId, TOKEN_2022_PROGRAM]) {
      const listed = chain.accountsByOwner(bytesOf(owner));
      const open = [...last].filter(([, { lamports, owner: of }]) => lamports > 0n && keyOf(of) === owner);
      expect(open.length).toBeGreaterThan(0);
      expect(listed.map(({ address }) => keyOf(address)).toSorted()).toEqual(
        open.map(([address]) => address).toSorted(),
      );
      for (const account of listed) expect(account).toEqual(last.get(keyOf(account.address)));
    }
  });

  test('accountsByOwner lists as many accounts as the state has of the program and of Token-2022', () => {
    const { configs, origins, models, policies, venues, tokens, mints, metadata } = chain.state();
    const own = configs.size + origins.size + models.size + policies.size + venues.size;
    expect(chain.accountsByOwner(bytesOf(chain.programId)).length).toBe(own);
    const classic = [...mints.values()].filter((mint) => mint.program !== TOKEN_2022_PROGRAM).length;
    const extended = chain.accountsByOwner(bytesOf(TOKEN_2022_PROGRAM)).length;
    expect(extended).toBe(tokens.size + mints.size + metadata.size - classic);
  });

  test('history() has the slots and events of the blocks that subscribers got', () => {
    const told = [...chain.history()];
    expect(told.map((block) => block.slot)).toEqual(heard.map((block) => block.slot));
    expect(told.flatMap((block) => block.transactions.flatMap((tx) => tx.events))).toEqual(
      heard.flatMap((block) => block.transactions.flatMap((tx) => tx.events)),
    );
  });
});

describe('agent keys', () => {
  test('a signature verifies under the public key, and the key pair is found again by that key alone', () => {
    const mint = keyOf(new Uint8Array(32).fill(5));
    const agent = agentKeypair(SEED, mint, 2);
    const message = Buffer.from('a challenge');
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), agent.publicKey]);
    expect(verify(null, message, { key: der, format: 'der', type: 'spki' }, agent.sign(message))).toBe(true);
    expect(agentKeypairOf(SEED, mint, agent.key)).toBe(agent);
    expect(agentKeypairOf(SEED, mint, mint)).toBeNull();
  });
});
