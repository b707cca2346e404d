import type { Undecided } from '../../../schemas/extract/derive.ts';
import { type Extract, extractEvents } from '../../../schemas/extract/extract.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import type { ChainTransaction } from '../../../schemas/transaction/parts.ts';
import { discriminator, type KitValue, kitEncode } from './kit-codecs.ts';
import type { Run, Step } from './run.ts';

export const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
export const [PROGRAM, OTHER, POLICY, TOKEN] = [key(1), key(2), key(3), key(4)] as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
export const OF = {
  policy: encodeBase58(POLICY),
  mint: encodeBase58(key(5)),
  quoteMint: encodeBase58(key(6)),
};

export const credit = (amount: number): Uint8Array =>
  kitEncode('CreditNoted', { ...OF, amount: BigInt(amount) });
export const encoded = (name: string, fields: KitValue): Uint8Array => kitEncode(name, { ...OF, ...fields });
export const unknown = Uint8Array.from([9, 9, 9, 9, 9, 9, 9, 9, ...key(7)]);

/** A call of the program that notes credit. */
export const ours = (...steps: Step[]): Run => ({
  program: PROGRAM,
  accounts: [
    { address: TOKEN, writable: false },
    { address: POLICY, writable: true },
  ],
  data: discriminator('note_credit'),
  steps,
});
export const theirs = (...steps: Step[]): Run => ({ program: OTHER, steps });

export function whole(tx: ChainTransaction): Extract & { status: 'whole' } {
  const extract = extractEvents(tx, PROGRAM);
  if (extract.status !== 'whole') throw new Error(`it is ${extract.status}`);
  return extract;
}

/** What a transaction whose logs were cut does not decide. */
export function undecided(tx: ChainTransaction): Undecided {
  const extract = extractEvents(tx, PROGRAM);
  if (extract.status !== 'derived' || extract.undecided === null) throw new Error('it is decided');
  return extract.undecided;
}

export function undecoded(tx: ChainTransaction): Extract & { status: 'undecoded' } {
  const extract = extractEvents(tx, PROGRAM);
  if (extract.status !== 'undecoded') throw new Error(`it is ${extract.status}`);
  return extract;
}

export const amounts = (tx: ChainTransaction) =>
  whole(tx).events.map(({ event }) => (event.event === 'CreditNoted' ? event.fields.amount : event.event));
