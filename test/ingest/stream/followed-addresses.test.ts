import { expect, test } from 'vitest';
import { mintData } from '../../../devnet/bytes/mint.ts';
import { TOKEN_2022_PROGRAM } from '../../../devnet/program/state/known-programs.ts';
import { createFollowedAddresses } from '../../../ingest/stream/following/addresses.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { modelAddress, policyTokenAccounts, poolAddress } from '../../../schemas/solana/pda.ts';
import { kitEncode } from '../../schemas/support/kit-codecs.ts';
import { policyBytes } from '../materialise/support/accounts.ts';
import { account, key, PROGRAM, rawKey } from '../materialise/support/records.ts';

const LAUNCHPAD = rawKey('launchpad');
const TOKENS = decodeKey(TOKEN_2022_PROGRAM) as Uint8Array;

/** A mint that points to metadata in another account. */
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
/** A Local venue account that names a token account and a mint. */
function venue(name: string, of: string, token: string | Uint8Array, asset: string | Uint8Array) {
  const text = (one: string | Uint8Array) => (typeof one === 'string' ? key(one) : encodeBase58(one));
  const data = kitEncode('VenueAccount', {
    ...{ policy: key(of), tokenAccount: text(token), assetMint: text(asset) },
    ...{ kind: 0, assetClass: 1, revoked: false, remoteAccount: new Uint8Array(32) },
    ...{ remoteEquity: 0n, remoteNotional: 0n, remoteAsof: 0n, bridgedOut: 0n, bump: 1 },
  });
  return account(name, PROGRAM, data);
}
function balance(name: string, owner: string) {
  const data = new Uint8Array(165);
  data.set(rawKey('asset'), 0);
  data.set(rawKey(owner), 32);
  data[108] = 1;
  return account(name, TOKENS, data);
}
const policy = (name: string) => account(name, PROGRAM, policyBytes());

test('each model that a policy is set to is followed, and returned as new once', () => {
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
  const of = (modelId: number, change: object = {}) => ({
    ...account('policy', PROGRAM, policyBytes({ modelId })),
    ...change,
  });
  const at = (id: number) => encodeBase58(modelAddress(PROGRAM, id));
  expect(followed.learn(of(0))).not.toContain(at(0));
  const first = followed.size();
  expect(followed.learn(of(7))).toEqual([at(7)]);
  expect(followed.expectedAt(modelAddress(PROGRAM, 7))).toBe('program');
  expect(followed.learn(of(300))).toEqual([at(300)]);
  for (const again of [7, 0, 300]) expect(followed.learn(of(again))).toEqual([]);
  expect(followed.learn({ ...of(8), data: policyBytes({ modelId: 8 }).subarray(0, 200) })).toEqual([]);
  followed.learn(of(8, { lamports: 0n }));
  expect(followed.size()).toBe(first + 2);
  expect(followed.learn(of(9))).toEqual([at(9)]);
  expect(followed.learn(account('other', PROGRAM, policyBytes({ modelId: 9 })))).not.toContain(at(9));
});

test('the metadata address that a mint points to is read but not streamed, one address per mint', () => {
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
  followed.learn(pointing('mint', key('too early')));
  expect(followed.metadata()).toEqual([]);
  followed.learn(policy('policy'));
  const before = followed.streamed();
  expect(followed.learn(pointing('mint', key('first')))).toEqual([]);
  followed.learn(pointing('mint', key('second')));
  expect(followed.metadata()).toEqual([key('second')]);
  expect(followed.streamed()).toEqual(before);
  expect(followed.add(key('kept from before'), 'metadata')).toBe(false);
  followed.learn({ ...pointing('mint', key('second')), lamports: 0n });
  expect(followed.metadata()).toEqual([]);
});

test('an address that a mint points to as metadata is a policy address once its policy is known', () => {
  const { bankroll } = policyTokenAccounts(PROGRAM, rawKey('policy'));
  const pool = poolAddress(LAUNCHPAD, rawKey('mint'), rawKey('quote'));
  for (const target of [bankroll, pool, rawKey('policy')]) {
    const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
    followed.add(key('quote'), 'mint');
    followed.learn(pointing('quote', encodeBase58(target)));
    expect(followed.metadata()).toEqual([encodeBase58(target)]);
    followed.learn(policy('policy'));
    expect(followed.metadata()).toEqual([]);
    expect(followed.streamed()).toContain(encodeBase58(target));
    expect(followed.expectedAt(target)).not.toBe('metadata');
  }
});

test('a pool leads to its curve configuration only at its derived address and owned by the launchpad', () => {
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

test('mints of quotes and assets are read but not streamed; a launched mint is streamed', () => {
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
  followed.learn(policy('policy'));
  followed.learn(venue('venue', 'policy', 'token', 'asset'));
  followed.add(key('kept from before'), 'mint', true);
  expect(new Set(followed.mints())).toEqual(
    new Set(['quote', 'asset', 'kept from before'].map((name) => key(name))),
  );
  for (const mint of followed.mints()) expect(followed.streamed()).not.toContain(mint);
  expect(followed.streamed()).toContain(key('mint'));
  expect(followed.expectedAt(rawKey('asset'))).toBe('mint');
});

test('a mint at an address named as a balance is also read in the turns of mints, and stays a named balance', () => {
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
  followed.learn(venue('venue', 'policy', 'token', 'asset'));
  followed.learn(account('token', rawKey('stranger'), new Uint8Array(82).fill(1)));
  expect(followed.mints()).toEqual([key('asset')]);
  expect(followed.learn(pointing('token', key('elsewhere')))).toEqual([]);
  expect(followed.mints()).toEqual(['asset', 'token'].map(key));
  expect(followed.metadata()).toEqual([key('elsewhere')]);
  expect(followed.namedBalances()).toEqual([key('token')]);
  expect(followed.isNamed(rawKey('token'))).toBe(true);
});

test("a venue account's balance is streamed once its owner is the policy, and read over RPC until then", () => {
  let changes = 0;
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD, () => {
    changes += 1;
  });
  followed.learn(venue('venue', 'policy', 'token', 'asset'));
  expect([followed.namedBalances(), changes]).toEqual([[key('token')], 1]);
  expect(followed.learn(balance('token', 'a busy exchange'))).toEqual([]);
  expect(followed.streamed()).not.toContain(key('token'));
  expect(followed.learn(balance('token', 'policy'))).toEqual([key('token')]);
  expect([followed.namedBalances(), changes]).toEqual([[], 2]);
  expect(followed.streamed()).toContain(key('token'));
});

test('an address of a policy takes its own kind, even if venue accounts named it as a mint or a balance before', () => {
  const { bankroll } = policyTokenAccounts(PROGRAM, rawKey('policy'));
  const pool = poolAddress(LAUNCHPAD, rawKey('mint'), rawKey('quote'));
  const followed = createFollowedAddresses(PROGRAM, LAUNCHPAD);
  const named = [bankroll, pool, rawKey('policy')];
  named.forEach((address, at) => {
    followed.learn(venue(`as a mint ${at}`, 'other', 'any', address));
    followed.learn(venue(`as a balance ${at}`, 'other', address, 'any'));
  });
  expect(followed.streamed()).not.toContain(encodeBase58(bankroll));
  const found = followed.learn(policy('policy'));
  for (const address of named) {
    expect(found).toContain(encodeBase58(address));
    expect([...followed.mints(), ...followed.namedBalances()]).not.toContain(encodeBase58(address));
  }
  expect(named.map(followed.expectedAt)).toEqual(['token_account', 'pool', 'program']);
});
