import { decodeBase58, encodeBase58 } from '../../schemas/solana/base58.ts';
import type { StoredAccount } from '../chain/ledger.ts';
import { RpcFault } from './fault.ts';

/** The form in which a request wants accounts. */
export interface AccountForm {
  encoding?: string;
  dataSlice?: { offset: number; length: number };
}

export type AccountFilter = { memcmp?: { offset: number; bytes: string }; dataSize?: number };

/** Nodes refuse to encode more bytes than this in base58. */
const MOST_BASE58_BYTES = 128;

const base64 = (data: Uint8Array) => [Buffer.from(data).toString('base64'), 'base64'];

const ENCODINGS: Record<string, (data: Uint8Array) => unknown> = {
  base58: (data) => [base58(data), 'base58'],
  base64,
  // A node answers base64 for every program whose accounts it cannot parse.
  jsonParsed: base64,
};

function base58(data: Uint8Array): string {
  if (data.length > MOST_BASE58_BYTES)
    throw new RpcFault(
      -32600,
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    );
  return encodeBase58(data);
}

/** An account as a node answers it; null where there is none. @throws RpcFault */
export function accountJson(account: StoredAccount | null, form: AccountForm): object | null {
  // A real node defaults to base58, which it refuses for most of these accounts. People query a local chain by hand, so
  // the default here is base64.
  const { encoding = 'base64', dataSlice } = form;
  const encode = ENCODINGS[encoding];
  if (encode === undefined) throw new RpcFault(-32602, `Invalid params: unknown variant \`${encoding}\``);
  if (account === null || account.lamports === 0n) return null;
  const { offset, length } = dataSlice ?? { offset: 0, length: account.data.length };
  return {
    data: encode(account.data.subarray(offset, offset + length)),
    executable: account.executable,
    lamports: Number(account.lamports),
    owner: encodeBase58(account.owner),
    rentEpoch: 0,
    space: account.data.length,
  };
}

/** Whether an account's data meets a filter. @throws RpcFault */
export function passes(data: Uint8Array, { memcmp, dataSize }: AccountFilter): boolean {
  if (dataSize !== undefined) return data.length === dataSize;
  const wanted = memcmp === undefined ? null : decodeBase58(memcmp.bytes);
  if (memcmp === undefined || wanted === null) throw new RpcFault(-32602, 'Invalid param: Invalid');
  return Buffer.compare(data.subarray(memcmp.offset, memcmp.offset + wanted.length), wanted) === 0;
}
