import { expect, test } from 'vitest';
import { mintData } from '../../../devnet/bytes/mint.ts';
import { TOKEN_2022_PROGRAM } from '../../../devnet/program/state/known-programs.ts';
import { createFollowedAddresses } from '../../../ingest/stream/following/addresses.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyTokenAccounts, poolAddress } from '../../../schemas/solana/pda.ts';
import { policyBytes } from '../materialise/support/accounts.ts';
import { account, key, PROGRAM, rawKey } from '../materialise/support/records.ts';

const LAUNCHPAD = rawKey('launchpad');
const TOKENS = decodeKey(TOKEN_2022_PROGRAM) as Uint8Array;

/** The state of a mint whose maker says that its metadata stand elsewhere. */
function pointing(name: string, metadataPointer: string) {
  const data = mintData({
    address: key(name),
    program: TOKEN_2022_PROGRAM,
    decimals: 6,
    supply: 1n,
    metadata: null,
    metadataPointer,
    unknownExtension: false,
  });
  return account(name, TOKENS, data);
}
const policy = (name: string) => account(name, PROGRAM, policyBytes());

test('what a mint points to is read and never streamed, one address a mint', () => {
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
  followed.learn(pointing('mint', key('too early')));
  expect(followed.metadataAddresses()).toEqual([]);
  followed.learn(policy('policy'));
  const before = followed.addresses();
  expect(followed.learn(pointing('mint', key('first')))).toEqual([]);
  followed.learn(pointing('mint', key('second')));
  expect(followed.metadataAddresses()).toEqual([key('second')]);
  expect(followed.addresses()).toEqual(before);
  expect(followed.add(key('kept from before'), 'metadata')).toBe(false);
  followed.learn({ ...pointing('mint', key('second')), lamports: 0n });
  expect(followed.metadataAddresses()).toEqual([]);
});

test('an address of ours is what it is, whatever points to it, and whenever', () => {
  const { bankroll } = policyTokenAccounts(PROGRAM, rawKey('policy'));
  const pool = poolAddress(LAUNCHPAD, rawKey('mint'), rawKey('quote'));
  for (const target of [bankroll, pool, rawKey('policy')]) {
    const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
    followed.add(key('quote'), 'mint');
    followed.learn(pointing('quote', encodeBase58(target)));
    expect(followed.metadataAddresses()).toEqual([encodeBase58(target)]);
    followed.learn(policy('policy'));
    expect(followed.metadataAddresses()).toEqual([]);
    expect(followed.addresses()).toContain(encodeBase58(target));
    expect(followed.expectedAt(target)).not.toBe('metadata');
  }
});

test('a pool leads to its curve only where the launchpad owns it', () => {
  const data = Buffer.alloc(429);
  data.set(Buffer.from('f7ede3f5d7c3de46', 'hex'));
  data.set(rawKey('curve'), 141);
  data.set(rawKey('mint'), 205);
  data.set(rawKey('quote'), 237);
  const address = poolAddress(LAUNCHPAD, rawKey('mint'), rawKey('quote'));
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
  followed.learn(policy('policy'));
  expect(followed.learn(account('pool', rawKey('stranger'), data, { address }))).toEqual([]);
  expect(followed.learn(account('pool', LAUNCHPAD, data))).toEqual([]);
  expect(followed.learn(account('pool', LAUNCHPAD, data, { address }))).toEqual([key('curve')]);
});
