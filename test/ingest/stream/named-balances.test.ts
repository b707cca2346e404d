import { afterEach, expect, test } from 'vitest';
import { createFollowed } from '../../../ingest/stream/followed-stream/followed.ts';
import { createFollowedAddresses } from '../../../ingest/stream/following/addresses.ts';
import { Slots } from '../../../ingest/stream/slots/machine.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { awaited } from '../../support/awaited.ts';
import { key, PROGRAM, rawKey } from '../materialise/support/records.ts';

const stop = new AbortController();
afterEach(() => stop.abort());

const never = () => {
  throw new Error('nothing is streamed here');
};

/** Followed addresses with the turns behind them, as ingest has them; how often all named ones were gone through. */
function stage() {
  const seen = { gone: 0, read: new Set<string>(), lost: [] as string[] };
  let onNamed = (_address: string, _isNamed: boolean) => {};
  const following = createFollowedAddresses(PROGRAM, rawKey('launchpad'), (...named) => onNamed(...named));
  const followed = createFollowed({
    client: { subscribe: never, renew: never } as never,
    ...{ slots: new Slots('confirmed', 10n), commitment: 'confirmed', programId: PROGRAM },
    ...{ position: { slot: 10n, followed: 10n }, lost: [], expectedAt: following.expectedAt },
    addresses: following.streamed,
    named: () => {
      seen.gone += 1;
      return following.namedBalances();
    },
    reader: {
      read: async (addresses: readonly string[]) => {
        for (const address of addresses) seen.read.add(address);
        return [];
      },
    } as never,
    ...{ read: never, reread: never, learn: never, handle: never, onUnreadable: never, onFollowed: never },
    send: async (records: readonly LogRecord[]) => {
      for (const record of records)
        if (record.kind === 'carried' && !record.carried) seen.lost.push(encodeBase58(record.address));
    },
    ...{ rotaMs: 1, logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  onNamed = followed.onNamed;
  return { following, seen };
}

test('a thousand balances that strangers name at once each join the turns, and none has the others gone through', async () => {
  const { following, seen } = stage();
  const names = Array.from({ length: 1_000 }, (_, at) => key(`token ${at}`));
  for (const name of names) following.add(name, 'token_account', true);
  // One that turns out to be ours leaves them before its turn.
  following.add(names[999] as string, 'token_account');
  expect(seen.gone).toBeLessThanOrEqual(2);
  expect(seen.lost).toEqual(names);
  await awaited(() => expect(seen.read.size).toBeGreaterThanOrEqual(999));
  expect(seen.read).toEqual(new Set(names.slice(0, 999)));
});
