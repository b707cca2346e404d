import {
  SubscribeUpdate,
  SubscribeUpdateTransaction,
  SubscribeUpdateTransactionInfo,
} from '@triton-one/yellowstone-grpc';
import { type EncodedTransaction, type EncodedUpdate, field } from './encode.ts';

/** How a transaction is spoilt: no meta, a message that does not parse, no signature, or no protobuf at all. */
export const SPOILS = ['bare', 'garbled', 'unsigned', 'noise'] as const;
export type Spoil = (typeof SPOILS)[number];

const GARBAGE = Buffer.from([0x0a, 0xff, 0xff, 0x03, 0x01]);

/** The update of the same slot with a transaction that cannot be read. */
export function spoilt(encoded: EncodedTransaction, how: Spoil): EncodedTransaction {
  const { transaction: update } = SubscribeUpdate.decode(encoded.bytes);
  if (update?.transaction === undefined) return encoded;
  const { slot, transaction } = update;
  // In these messages the slot is the field after the transaction.
  const behind = SubscribeUpdateTransaction.encode(SubscribeUpdateTransaction.fromPartial({ slot })).finish();
  return { ...encoded, bytes: field(4, Buffer.concat([field(1, insides(transaction, how)), behind])) };
}

/** An update of which only the slot can be read. */
export interface Noise {
  of: 'account' | 'transaction';
  slot: bigint;
}

const FIELDS: Record<Noise['of'], number> = { account: 2, transaction: 4 };

export function noise({ of, slot }: Noise): EncodedUpdate {
  // Account and transaction updates have their slot in the same field.
  const behind = SubscribeUpdateTransaction.encode(
    SubscribeUpdateTransaction.fromPartial({ slot: slot.toString() }),
  ).finish();
  const bytes = field(FIELDS[of], Buffer.concat([field(1, GARBAGE), behind]));
  return { bytes, field: FIELDS[of] };
}

function insides(info: SubscribeUpdateTransactionInfo, how: Spoil): Uint8Array {
  const { signature, meta, ...rest } = info;
  switch (how) {
    case 'noise':
      return GARBAGE;
    case 'garbled':
      return Buffer.concat([field(1, signature), field(3, GARBAGE)]);
    case 'bare':
      return encode({ ...rest, signature });
    case 'unsigned':
      return encode({ ...rest, ...(meta === undefined ? {} : { meta }) });
  }
}

const encode = (info: Partial<SubscribeUpdateTransactionInfo>): Uint8Array =>
  SubscribeUpdateTransactionInfo.encode(
    SubscribeUpdateTransactionInfo.fromPartial(info as SubscribeUpdateTransactionInfo),
  ).finish();
