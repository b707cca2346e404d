import { CommitmentLevel, SubscribeRequest } from '@triton-one/yellowstone-grpc';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { byteKey } from '../../schemas/solana/byte-key.ts';
import type { EncodedAccount, EncodedTransaction } from './encode.ts';
import type { ProviderModes } from './modes.ts';

export interface SlotFilter {
  name: string;
  /** Only notices of the request's own commitment are wanted. */
  byCommitment: boolean;
  /** Notices of statuses between the commitments are wanted too. */
  interslot: boolean;
}

/** What one subscriber asks for. The functions return the names of the filters that match an update. */
export interface Filter {
  accounts(update: EncodedAccount): string[];
  transactions(update: EncodedTransaction): string[];
  slots: SlotFilter[];
  blocksMeta: string[];
  commitment: 'processed' | 'confirmed' | 'finalized';
  fromSlot: bigint | null;
  /** Whether a filter names accounts by address. */
  isOfAddresses: boolean;
}

export interface ParsedRequest {
  /** Null for a message that only answers a ping. */
  filter: Filter | null;
  pingId: number | null;
}

/** A filter that this provider does not take. */
export class FilterRefusedError extends Error {
  override name = 'FilterRefusedError';

  constructor(why: string) {
    super(`failed to create filter: ${why}`);
  }
}

export type FilterLimits = Pick<ProviderModes, 'named' | 'addresses' | 'terse'>;

const COMMITMENTS = {
  [CommitmentLevel.PROCESSED]: 'processed',
  [CommitmentLevel.CONFIRMED]: 'confirmed',
  [CommitmentLevel.FINALIZED]: 'finalized',
} as const;

/** Field numbers of the maps of named filters in SubscribeRequest. */
const MAPS = { accounts: 1, slots: 2, transactions: 3, blocksMeta: 5 } as const;

/** Reads a request. @throws FilterRefusedError */
export function parseRequest(bytes: Buffer, limits: FilterLimits): ParsedRequest {
  const request = SubscribeRequest.decode(bytes);
  if (request.ping !== undefined) return { filter: null, pingId: request.ping.id };
  const named = (kind: keyof typeof MAPS) => {
    const names = mapKeys(bytes, MAPS[kind]);
    atMost(names.length, limits.named, 'filters/data_slices', limits);
    return names;
  };
  const accounts = named('accounts').map((name) => {
    const filter = request.accounts[name];
    atMost(filter?.account.length ?? 0, limits.addresses, 'Pubkeys', limits);
    return { name, addresses: keys(filter?.account ?? []), owners: keys(filter?.owner ?? []) };
  });
  const transactions = named('transactions').map((name) => {
    const filter = request.transactions[name];
    return { name, include: keys(filter?.accountInclude ?? []), failed: filter?.failed };
  });
  const commitment = COMMITMENTS[request.commitment as keyof typeof COMMITMENTS] ?? 'processed';
  return {
    pingId: null,
    filter: {
      // An update must meet all conditions of a filter; a filter without conditions matches every update.
      accounts: ({ address, owner }) =>
        accounts
          .filter(({ addresses }) => addresses.size === 0 || addresses.has(address))
          .filter(({ owners }) => owners.size === 0 || owners.has(owner))
          .map(({ name }) => name),
      transactions: (update) =>
        transactions
          .filter(({ failed }) => failed === undefined || failed === update.failed)
          .filter(({ include }) => include.size === 0 || [...include].some((key) => update.accounts.has(key)))
          .map(({ name }) => name),
      slots: named('slots').map((name) => ({
        name,
        byCommitment: request.slots[name]?.filterByCommitment ?? false,
        interslot: request.slots[name]?.interslotUpdates ?? false,
      })),
      blocksMeta: named('blocksMeta'),
      commitment,
      fromSlot: request.fromSlot === undefined ? null : BigInt(request.fromSlot),
      isOfAddresses: accounts.some(({ addresses }) => addresses.size > 0),
    },
  };
}

function atMost(count: number, most: number | null, what: string, { terse }: FilterLimits): void {
  if (most === null || count <= most) return;
  throw new FilterRefusedError(terse ? 'too many' : `Max amount of ${what} reached, only ${most} allowed`);
}

function keys(texts: readonly string[]): Set<string> {
  return new Set(
    texts.map((text) => {
      const key = decodeKey(text);
      if (key === null) throw new FilterRefusedError('String is the wrong size');
      return byteKey(key);
    }),
  );
}

/** Keys of the map in a field, read from the bytes: the codec drops an entry whose value is an empty message. */
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
