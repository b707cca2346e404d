import { sameBytes } from '../transaction/own-calls.ts';
import type { Call, ChainTransaction } from '../transaction/parts.ts';
import { isTokenCall, type TokenMove, tokenMove } from './token-moves.ts';

/** The token accounts of a transaction: what every call moved, held against the balances before and after. */
export interface Books {
  /** Moves of a call and of everything below it, in order. */
  of(call: Call): TokenMove[];
  /** Whether what is known of an account's moves makes the one balance the other. */
  explains(account: Uint8Array): boolean;
  /** What an account held when a call had ended. Only where `explains`. */
  heldAfter(account: Uint8Array, call: Call): bigint;
  /** The mint of an account; undefined where the transaction does not tell. */
  mintOf(account: Uint8Array): Uint8Array | undefined;
  mints(): Uint8Array[];
}

export function booksOf(tx: ChainTransaction): Books {
  const { calls } = tx;
  const balances = tx.tokenBalances();
  const tokenCalls = calls.filter(isTokenCall).map((call) => ({ call, move: tokenMove(call) }));
  const moves = tokenCalls.flatMap(({ move }) => (move === null || move === 'unread' ? [] : [move]));
  const balanceOf = (account: Uint8Array) => balances.find(({ address }) => sameBytes(address, account));
  const change = (account: Uint8Array, among: readonly TokenMove[]) =>
    among.reduce((sum, { from, to, amount, received }) => {
      const lost = from !== null && sameBytes(from, account) ? amount : 0n;
      const gained = to !== null && sameBytes(to, account) ? received : 0n;
      return sum - lost + gained;
    }, 0n);
  const ends = (call: Call): number => {
    const at = calls.indexOf(call);
    const next = calls.findIndex(({ depth }, index) => index > at && depth <= call.depth);
    return next < 0 ? calls.length : next;
  };

  return {
    of: (call) => {
      const below = new Set(calls.slice(calls.indexOf(call), ends(call)));
      return moves.filter((move) => below.has(move.call));
    },
    explains: (account) => {
      const touching = tokenCalls.filter(({ call }) =>
        call.accounts.some(({ address }) => sameBytes(address, account)),
      );
      if (touching.some(({ move }) => move === 'unread')) return false;
      const balance = balanceOf(account);
      if (balance === undefined) return touching.length === 0;
      return (balance.before ?? 0n) + change(account, moves) === (balance.after ?? 0n);
    },
    heldAfter: (account, call) => {
      const before = new Set(calls.slice(0, ends(call)));
      const past = moves.filter((move) => before.has(move.call));
      return (balanceOf(account)?.before ?? 0n) + change(account, past);
    },
    mintOf: (account) => balanceOf(account)?.mint,
    mints: () => balances.map(({ mint }) => mint),
  };
}
