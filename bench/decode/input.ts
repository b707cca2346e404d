import { createHash } from 'node:crypto';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import type { Account, ChainTransaction } from '../../schemas/transaction/parts.ts';
import { policyBytes as policyOf } from '../../test/ingest/materialise/support/accounts.ts';
import { discriminator, kitEncode } from '../../test/schemas/support/kit-codecs.ts';
import { run } from '../../test/schemas/support/run.ts';

/** Keys are hashes of their names, so that the input is the same in every run. */
const key = (name: string): Uint8Array => Uint8Array.from(createHash('sha256').update(name).digest());
const text = (name: string): string => encodeBase58(key(name));

export const PROGRAM = key('program');

const EVENT_HEAD = { policy: text('policy'), mint: text('mint'), quoteMint: text('quote') };

/** A policy account as it is on chain: 619 bytes, zeros behind the fields; its amounts are as large as real ones. */
export const policyBytes = (): Uint8Array =>
  policyOf({
    agent: text('agent'),
    feesClaimed: 123_456_789_012n,
    protocolFees: 6_172_839_450n,
    routedToLp: 46_913_579_824n,
    routedToBankroll: 70_370_369_738n,
    profitSwept: 9_876_543_210n,
    paidToHolders: 2_962_962_963n,
    tokensBurned: 1_000_000_000_000n,
    creditSpent: 55_555_555n,
    hwm: 80_000_000_000n,
  });

export function routedBytes(): Uint8Array {
  const amounts = { amount: 1_000_000n, protocolCut: 50_000n, toLp: 380_000n, toBankroll: 570_000n };
  return kitEncode('Routed', { ...EVENT_HEAD, ...amounts });
}

/** A transaction of a claim, which calls the launchpad and a token program, and a route: 20 log lines, two events. */
export function routeTransaction(): ChainTransaction {
  const account = (name: string, writable: boolean): Account => ({ address: key(name), writable });
  const accounts = [
    account('keeper', true),
    account('policy', true),
    account('mint', false),
    account('escrow', true),
  ];
  const transfer = { call: { program: key('token'), accounts: accounts.slice(0, 3) } };
  const claimed = kitEncode('FeesClaimed', { ...EVENT_HEAD, quoteAmount: 1_000_000n, baseAmount: 5n });
  const tx = run([
    { program: key('budget'), data: Uint8Array.of(2, 0, 0, 0) },
    {
      program: PROGRAM,
      accounts,
      data: discriminator('claim_fees'),
      steps: [
        { log: 'Instruction: ClaimFees' },
        { call: { program: key('launchpad'), steps: [transfer] } },
        { emit: claimed },
      ],
    },
    {
      program: PROGRAM,
      accounts,
      data: discriminator('route'),
      steps: [{ log: 'Instruction: Route' }, { emit: routedBytes() }],
    },
  ]);
  return { ...tx, logs: [...(tx.logs as string[]), `Program log: done`].slice(0, 20) };
}
