import { decodeKey } from '../solana/base58.ts';
import { sameBytes } from '../transaction/own-calls.ts';
import type { Account, Call } from '../transaction/parts.ts';
import { FIRST_EXTENSION, placeChanged } from './token-extensions.ts';

/** What a call of a token program did; `from` null for a mint's issue, `to` null for a burn. */
export interface TokenMove {
  call: Call;
  from: Uint8Array | null;
  to: Uint8Array | null;
  /** What `from` lost. */
  amount: bigint;
  /** What `to` gained: less than `amount` where the mint keeps a fee. */
  received: bigint;
}

/** What a call of a token program did to amounts that accounts hold. */
export type TokenEffect =
  | { did: 'move'; move: TokenMove }
  /** It set the amount of an account of the native mint to what its lamports say, which is no less than before. */
  | { did: 'sync'; call: Call; account: Uint8Array }
  /** It may have changed what these accounts hold, in a way that is not read here. */
  | { did: 'unread'; accounts: readonly Uint8Array[] };

const TOKEN_PROGRAMS: readonly Uint8Array[] = [
  decodeKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA') as Uint8Array,
  decodeKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb') as Uint8Array,
];

export function isTokenCall({ program }: Call): boolean {
  return TOKEN_PROGRAMS.some((known) => sameBytes(known, program));
}

/** Places of `from` and `to` among the accounts, by the instruction's first byte. */
const MOVES: Partial<Record<number, Places>> = {
  3: { from: 0, to: 1 },
  7: { from: null, to: 1 },
  8: { from: 0, to: null },
  12: { from: 0, to: 2 },
  14: { from: null, to: 1 },
  15: { from: 0, to: null },
};
const SYNC_NATIVE = 17;
const TRANSFER_WITH_FEE = { tag: 26, sub: 1, from: 0, to: 2, length: 19 } as const;
/** Not of an extension: a batch of instructions, each behind the number of its accounts and that of its bytes. */
const BATCH = 255;

interface Places {
  from: number | null;
  to: number | null;
}

/** What a call of a token program did; nothing where it changed no amount. */
export function tokenEffects(call: Call): TokenEffect[] {
  const { data, accounts } = call;
  return data[0] === BATCH ? batched(call) : effectsOf(call, data, accounts);
}

function batched(call: Call): TokenEffect[] {
  const found: TokenEffect[] = [];
  let { data, accounts } = { data: call.data.subarray(1), accounts: call.accounts };
  while (data.length > 0) {
    const [count = 0, length = 0] = data;
    const inner = data.subarray(2, 2 + length);
    // A batch within a batch is not valid.
    if (inner.length < length || accounts.length < count || inner[0] === BATCH)
      return [unread(call.accounts)];
    found.push(...effectsOf(call, inner, accounts.slice(0, count)));
    data = data.subarray(2 + length);
    accounts = accounts.slice(count);
  }
  return found;
}

function effectsOf(call: Call, data: Uint8Array, accounts: readonly Account[]): TokenEffect[] {
  const [tag, sub = 0] = data;
  const at = (place: number | null) => (place === null ? null : accounts[place]?.address);
  const between = (places: Places, amount: bigint, received: bigint): TokenEffect[] => {
    const [from, to] = [at(places.from), at(places.to)];
    if (from === undefined || to === undefined) return [unread(accounts)];
    return [{ did: 'move', move: { call, from, to, amount, received } }];
  };
  if (tag === undefined) return [unread(accounts)];
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  if (tag === TRANSFER_WITH_FEE.tag && sub === TRANSFER_WITH_FEE.sub) {
    if (data.length < TRANSFER_WITH_FEE.length) return [unread(accounts)];
    const amount = view.getBigUint64(2, true);
    return between(TRANSFER_WITH_FEE, amount, amount - view.getBigUint64(11, true));
  }
  const move = MOVES[tag];
  if (move !== undefined) {
    if (data.length < 9) return [unread(accounts)];
    const amount = view.getBigUint64(1, true);
    return between(move, amount, amount);
  }
  if (tag === SYNC_NATIVE) {
    const account = at(0);
    return account ? [{ did: 'sync', call, account }] : [unread(accounts)];
  }
  if (tag < FIRST_EXTENSION) return [];
  const place = placeChanged(data);
  if (place === null) return [];
  return [unread(place === undefined ? accounts : accounts.slice(place, place + 1))];
}

const unread = (accounts: readonly Account[]): TokenEffect => ({
  did: 'unread',
  accounts: accounts.map(({ address }) => address),
});
