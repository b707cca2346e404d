import { decodeKey } from '../solana/base58.ts';
import { sameBytes } from '../transaction/own-calls.ts';
import type { Call } from '../transaction/parts.ts';

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

const TOKEN_PROGRAMS: readonly Uint8Array[] = [
  decodeKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA') as Uint8Array,
  decodeKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb') as Uint8Array,
];

export function isTokenCall({ program }: Call): boolean {
  return TOKEN_PROGRAMS.some((known) => sameBytes(known, program));
}

/** Places of `from` and `to` among the accounts, by the instruction's first byte. */
const MOVES: Partial<Record<number, { from: number | null; to: number | null }>> = {
  3: { from: 0, to: 1 },
  7: { from: null, to: 1 },
  8: { from: 0, to: null },
  12: { from: 0, to: 2 },
  14: { from: null, to: 1 },
  15: { from: 0, to: null },
};
/** Instructions below move tokens as above or not at all; those from here on do so in ways that are not read here. */
const FIRST_EXTENSION = 26;
const TRANSFER_WITH_FEE = { tag: 26, sub: 1, from: 0, to: 2, length: 19 } as const;

/**
 * What a call of a token program moved: null where it moved nothing, 'unread' where it may have and this does not
 * tell what.
 */
export function tokenMove(call: Call): TokenMove | 'unread' | null {
  const { data, accounts } = call;
  const tag = data[0];
  if (tag === undefined) return 'unread';
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  if (tag === TRANSFER_WITH_FEE.tag && data[1] === TRANSFER_WITH_FEE.sub) {
    if (data.length < TRANSFER_WITH_FEE.length) return 'unread';
    const amount = view.getBigUint64(2, true);
    const fee = view.getBigUint64(11, true);
    return between(TRANSFER_WITH_FEE, amount, amount - fee);
  }
  const move = MOVES[tag];
  if (move === undefined) return tag < FIRST_EXTENSION ? null : 'unread';
  if (data.length < 9) return 'unread';
  const amount = view.getBigUint64(1, true);
  return between(move, amount, amount);

  function between(
    places: { from: number | null; to: number | null },
    lost: bigint,
    received: bigint,
  ): TokenMove | 'unread' {
    const at = (place: number | null) => (place === null ? null : accounts[place]?.address);
    const [from, to] = [at(places.from), at(places.to)];
    return from === undefined || to === undefined ? 'unread' : { call, from, to, amount: lost, received };
  }
}
