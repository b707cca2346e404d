import { beforeEach, describe, expect, test } from 'vitest';
import { REMOTE } from '../../devnet/program/state/state.ts';
import { openStage, STRANGER, type Stage } from './stage.ts';

let stage: Stage;
let remote: string;
beforeEach(async () => {
  stage = await openStage();
  await stage.init();
  remote = await stage.register('remote', { venueKind: REMOTE, assetClass: 16 });
});

describe('report_remote_equity', () => {
  test('checks signer, kind, time and notional in that order, and writes nothing when one fails', async () => {
    const local = await stage.register('local');
    const future = { asof: stage.now() + 500n };
    const wrong = { ...future, notional: 51n };
    expect((await stage.report(local, 10n, { ...wrong, by: STRANGER })).failed).toBe('NotReporter');
    expect((await stage.report(local, 10n, wrong)).failed).toBe('NotRemoteVenue');
    expect((await stage.report(remote, 10n, wrong)).failed).toBe('FutureAsof');
    expect((await stage.report(remote, 10n, { notional: 51n })).failed).toBe('NotionalTooHigh');
    expect(stage.venue(remote)).toMatchObject({ remoteEquity: 0n, remoteNotional: 0n, remoteAsof: 0n });
  });

  test('takes an asof 120 seconds ahead and a notional of five times equity', async () => {
    const asof = stage.now() + 120n;
    expect((await stage.report(remote, 10n, { asof, notional: 50n })).failed).toBeNull();
    expect(stage.venue(remote)).toMatchObject({ remoteEquity: 10n, remoteNotional: 50n, remoteAsof: asof });
  });

  test('neither the first report nor a later change within the band pauses the policy', async () => {
    expect((await stage.report(remote, 1000n)).events).toMatchObject([{ fields: { paused: false } }]);
    await stage.report(remote, 1200n);
    await stage.report(remote, 960n);
    expect(stage.policy().paused).toBe(false);
  });

  test.each([1201n, 799n])('a jump from 1000 to %s is recorded and pauses the policy', async (equity) => {
    await stage.report(remote, 1000n);
    const tx = await stage.report(remote, equity);
    expect(tx.events).toMatchObject([
      { kind: 'RemoteEquityReported', fields: { equity, paused: true } },
      { kind: 'PolicyPaused', fields: { paused: true, by: 2 } },
    ]);
    expect([stage.policy().paused, stage.venue(remote).remoteEquity]).toEqual([true, equity]);
  });

  test('a report after one of zero counts as a first report and does not pause the policy', async () => {
    await stage.report(remote, 0n);
    await stage.report(remote, 5000n);
    expect(stage.policy().paused).toBe(false);
  });
});
