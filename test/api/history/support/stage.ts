import type { TestApi } from '../../support/api.ts';
import {
  appliedRow,
  configRow,
  gapRow,
  key,
  mintRow,
  policyRow,
  tokenAccountRow,
  venueAccountRow,
} from '../../support/rows.ts';

/** Hours since 1970; slot 1000 is the first of hour H, 1100 of the next, and so on. */
export const H = 497_300;
export const HOUR = 3_600;
export const START = H * HOUR;
/** 20 minutes into the seventh hour. */
export const NOW = (START + 6 * HOUR + 1200) * 1000;

export const policy = policyRow('m', 'usd', {
  created_at: START - 100,
  hwm: '77',
  venue_count: 2,
  block_time: START,
});
export const { address, bankroll } = policy as { address: string; bankroll: string };
export const remote = venueAccountRow('m', 'remote', { remote_equity: '900', remote_asof: START + 5 });
export const local = venueAccountRow('m', 'local', { kind: 'Local', asset_class: 1 });

export const at = (hour: number, slot: number, heldIn: string, row: object) => ({
  ...{ hour: H + hour, version: String(BigInt(slot) << 64n), block_time: START + hour * HOUR + 10 },
  ...{ exists: 1, held_in: heldIn, ...row },
});
export const ofPolicy = (hour: number, slot: number, row: object = {}) =>
  at(hour, slot, 'policies', { address, venue_count: 2, ...row });
export const balance = (hour: number, slot: number, amount: string, of = bankroll) =>
  at(hour, slot, 'token_accounts', { address: of, amount });
export const venue = (hour: number, slot: number, account: Record<string, unknown>, row: object = {}) =>
  at(hour, slot, 'venue_accounts', {
    ...{
      address: account.address,
      policy: address,
      token_account: account.token_account,
      kind: account.kind,
    },
    ...row,
  });
export const hours = (...slots: number[]) =>
  slots.map((slot, hour) => ({
    ...{ hour: H + hour, slot: String(slot), before: String((1n << 64n) - 1n - BigInt(slot)) },
  }));

/** A policy with two venue accounts and its states in the first hours. */
export async function seed(api: TestApi): Promise<void> {
  api.at(NOW);
  const applied = { slot: '1610', block_time: START + 6 * HOUR + 1100 };
  await api.insert('applied', [appliedRow('accounts', 0, applied), appliedRow('transactions', 0, applied)]);
  await api.insert('log_partitions', [
    { topic: 'accounts', partitions: 1 },
    { topic: 'transactions', partitions: 1 },
  ]);
  await api.insert('gaps', [gapRow('990', { closed: 1 })]);
  await api.insert('stream_holes', [{ after_slot: '0', to_slot: '990' }]);
  await api.insert('hour_slots', hours(1000, 1100, 1200, 1300, 1400, 1500, 1600));
  await api.insert('protocol_config', [configRow()]);
  await api.insert('policies', [policy]);
  await api.insert('mints', [mintRow('usd', 6)]);
  await api.insert('venue_accounts', [remote, local]);
  await api.insert('token_accounts', [tokenAccountRow(bankroll, '500'), tokenAccountRow(key('local'), '40')]);
  await api.insert('account_hours', [
    ofPolicy(0, 1005, { hwm: '10', fees_claimed: '1', venue_count: 0 }),
    ofPolicy(3, 1305, { hwm: '30', fees_claimed: '3', profit_swept: '5', tokens_burned: '6' }),
    balance(1, 1105, '100'),
    balance(3, 1305, '300'),
    venue(2, 1205, remote, { remote_equity: '700', remote_asof: START + 2 * HOUR }),
    venue(2, 1206, local),
    balance(2, 1207, '20', key('local')),
  ]);
}
