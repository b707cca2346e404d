import { afterEach, describe, expect, test } from 'vitest';
import { bytesOf } from '../../../devnet/program/state/keys.ts';
import { REMOTE } from '../../../devnet/program/state/state.ts';
import { serveVenues, type VenuesServer } from '../../../devnet/venues/server.ts';
import { VENUE_CHECKS } from '../../../ingest/operate/doctor/venues.ts';
import { ACCOUNT_READERS } from '../../../ingest/poll/venues/adapters.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { classBitOf, type EquityVenue, REMOTE_VENUE_NAMES } from '../../../schemas/venues/remote.ts';
import { openStage } from '../../devnet/stage.ts';
import { serveAnswers } from '../../support/answering.ts';

let venues: VenuesServer | null = null;
afterEach(async () => {
  await venues?.close();
  venues = null;
});

const { signal } = new AbortController();

describe.each(REMOTE_VENUE_NAMES)('the stand-in of the %s venue on devnet', (venue) => {
  test('passes the check that doctor makes of the venue', async () => {
    const { chain } = await openStage();
    venues = await serveVenues({ chain, port: 0 });
    await expect(VENUE_CHECKS[venue](venues.remote[venue], signal)).resolves.toEqual(expect.any(String));
  });
});

const NO_REPLIES = [{ body: { else: 'entirely' } }, { body: '<html>' }, { status: 502 }];

test.each(REMOTE_VENUE_NAMES)('doctor’s check of the %s venue fails on invalid replies', async (venue) => {
  for (const reply of NO_REPLIES) {
    const elsewhere = await serveAnswers(() => reply);
    await expect(VENUE_CHECKS[venue](elsewhere.url, signal)).rejects.toThrow();
    await elsewhere.close();
  }
});

const withEquity = REMOTE_VENUE_NAMES.filter((venue): venue is EquityVenue =>
  Object.hasOwn(ACCOUNT_READERS, venue),
);

test.each(withEquity)('the reader of %s reads the attested equity from the stand-in', async (venue) => {
  const stage = await openStage();
  venues = await serveVenues({ chain: stage.chain, port: 0 });
  await stage.init();
  const assetClass = classBitOf(venue);
  // An address of 20 bytes, right-aligned.
  const remoteAccount = encodeBase58(Buffer.concat([Buffer.alloc(12), Buffer.alloc(20, 0x17)]));
  const address = await stage.register('remote', { venueKind: REMOTE, assetClass, remoteAccount });
  const { failed } = await stage.report(address, 1_234_567n);
  expect(failed).toBeNull();
  const account = {
    address,
    remoteAccount: Buffer.from(bytesOf(remoteAccount)).toString('hex'),
    assetClass,
    policy: 'its policy',
    attested: 1,
  };
  const reading = await ACCOUNT_READERS[venue](venues.remote[venue]).read(account, signal);
  const whose = { type: 'venue_account', venue, venueAccount: address };
  expect(reading?.records).toMatchObject([
    { reading: { ...whose, reachable: true, equity: '1234567', venueTime: expect.any(Number) } },
  ]);
});
