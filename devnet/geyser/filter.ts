import { CommitmentLevel, SubscribeRequest } from '@triton-one/yellowstone-grpc';
import { decodeKey } from '../../schemas/base58.ts';
import { type EncodedAccount, type EncodedTransaction, latin1 } from './encode.ts';

/** What one subscriber asks for. Each answers the names of the filters that match. */
export interface Filter {
  accounts(update: EncodedAccount): string[];
  transactions(update: EncodedTransaction): string[];
  /** Names of the slot filters; `byCommitment` those that want their own commitment's notices only. */
  slots: { name: string; byCommitment: boolean }[];
  blocksMeta: string[];
  commitment: 'processed' | 'confirmed' | 'finalized';
  fromSlot: bigint | null;
}

export interface ParsedRequest {
  /** Null for a message that only answers a ping. */
  filter: Filter | null;
  pingId: number | null;
}

const COMMITMENTS = {
  [CommitmentLevel.PROCESSED]: 'processed',
  [CommitmentLevel.CONFIRMED]: 'confirmed',
  [CommitmentLevel.FINALIZED]: 'finalized',
} as const;

/** Reads a request. @throws TypeError for a key that is none. */
export function parseRequest(bytes: Buffer): ParsedRequest {
  const request = SubscribeRequest.decode(bytes);
  if (request.ping !== undefined) return { filter: null, pingId: request.ping.id };
  const accounts = Object.entries(request.accounts).map(([name, filter]) => ({
    name,
    addresses: keys(filter.account),
    owners: keys(filter.owner),
  }));
  const transactions = Object.entries(request.transactions).map(([name, filter]) => ({
    name,
    include: keys(filter.accountInclude),
    failed: filter.failed,
  }));
  const commitment = COMMITMENTS[request.commitment as keyof typeof COMMITMENTS] ?? 'processed';
  return {
    pingId: null,
    filter: {
      accounts: ({ address, owner }) =>
        accounts
          .filter((filter) => filter.addresses.has(address) || filter.owners.has(owner))
          .map(({ name }) => name),
      transactions: (update) =>
        transactions
          .filter(({ include, failed }) => {
            if (failed !== undefined && failed !== update.failed) return false;
            return include.size === 0 || [...include].some((key) => update.accounts.has(key));
          })
          .map(({ name }) => name),
      slots: mapKeys(bytes, 2).map((name) => ({
        name,
        byCommitment: request.slots[name]?.filterByCommitment ?? false,
      })),
      blocksMeta: mapKeys(bytes, 5),
      commitment,
      fromSlot: request.fromSlot === undefined ? null : BigInt(request.fromSlot),
    },
  };
}

function keys(texts: readonly string[]): Set<string> {
  return new Set(
    texts.map((text) => {
      const key = decodeKey(text);
      if (key === null) throw new TypeError(`not a public key: ${text}`);
      return latin1(key);
    }),
  );
}

/** Keys of the map at a field, read from the bytes: the codec drops an entry whose value is an empty message. */
function mapKeys(bytes: Buffer, wanted: number): string[] {
  const found: string[] = [];
  for (const [number, value] of fields(bytes)) {
    if (number !== wanted) continue;
    const key = [...fields(value)].find(([inner]) => inner === 1);
    found.push(key?.[1].toString('utf8') ?? '');
  }
  return found;
}

function* fields(bytes: Buffer): Generator<[number: number, value: Buffer]> {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; at < bytes.length; shift += 7) {
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const type = tag % 8;
    if (type === 0) varint();
    else {
      const length = type === 2 ? varint() : type === 1 ? 8 : 4;
      if (type === 2) yield [tag >>> 3, bytes.subarray(at, at + length)];
      at += length;
    }
  }
}
