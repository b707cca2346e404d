import type { TransactionRecord } from '../../../../schemas/records.ts';
import { encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { policyAddress, venueAddress } from '../../../../schemas/solana/pda.ts';
import { toGeyser } from '../../../schemas/support/encode-transaction.ts';
import { discriminator, kitEncode } from '../../../schemas/support/kit-codecs.ts';
import { type Run, run } from '../../../schemas/support/run.ts';
import { key, PROGRAM, rawKey, transaction } from './records.ts';

const [MINT, QUOTE] = [rawKey('mint'), rawKey('quote')];
const POLICY = policyAddress(PROGRAM, MINT);

/** A call that registers a venue account, Remote and of class PERP. */
const register = (name: string): Run => {
  const token = rawKey(name);
  const accounts = [
    rawKey('authority'),
    rawKey('config'),
    POLICY,
    MINT,
    QUOTE,
    venueAddress(PROGRAM, POLICY, token),
  ];
  const registered = { tokenAccount: key(name), assetMint: key('asset'), kind: 1, assetClass: 16 };
  const of = { policy: encodeBase58(POLICY), mint: key('mint'), quoteMint: key('quote') };
  return {
    program: PROGRAM,
    accounts: [...accounts, token, rawKey('asset')].map((address) => ({ address, writable: true })),
    data: Uint8Array.from([...discriminator('register_venue_account'), 1, 16, ...new Uint8Array(32)]),
    steps: [{ emit: kitEncode('VenueRegistered', { ...of, ...registered }) }],
  };
};

/**
 * A transaction that registers venue accounts of the policy of `mint`.
 * @param heard how many events are logged before the logs are cut
 */
export function registering(
  slot: bigint,
  names: readonly string[],
  heard: number,
  name = 'registers',
): TransactionRecord {
  const tx = run(names.map(register));
  const lines = tx.logs ?? [];
  const each = lines.length / names.length;
  const logs = heard === names.length ? lines : [...lines.slice(0, each * heard), 'Log truncated'];
  return transaction(name, slot, [], { payload: toGeyser({ ...tx, logs }, false) });
}
