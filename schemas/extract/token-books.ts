import { sameBytes } from '../transaction/own-calls.ts';
import type { Call, ChainTransaction } from '../transaction/parts.ts';
import { isTokenCall, type TokenMove, tokenEffects } from './token-moves.ts';

/** The token accounts of a transaction: what every call moved, compared with the balances before and after. */
export interface TokenBooks {
  /** Moves of a call and of everything below it, in order. */
  of(call: Call): TokenMove[];
  /**
   * Whether the known moves of an account lead from its balance before to the one after, and anything else that it
   * gained, such as lamports that anybody may send and have synced, came while the call did not run. Always false for
   * an inner call where the source does not tell what is below it.
   */
  explains(account: Uint8Array, call: Call): boolean;
  /** Whether an account may have held nothing when a call had ended. Holds only where `explains` does. */
  mayBeEmptyAfter(account: Uint8Array, call: Call): boolean;
  /** The mint of an account; undefined where the transaction does not tell. */
  mintOf(account: Uint8Array): Uint8Array | undefined;
  mints(): Uint8Array[];
}

export function tokenBooksOf(tx: ChainTransaction): TokenBooks {
  const { calls } = tx;
  const balances = tx.tokenBalances();
  const tokenCalls = calls.filter(isTokenCall);
  const effects = tokenCalls.flatMap(tokenEffects);
  const moves = effects.flatMap((effect) => (effect.did === 'move' ? [effect.move] : []));
  const syncs = effects.filter((effect) => effect.did === 'sync');
  const unread = effects.flatMap((effect) => (effect.did === 'unread' ? effect.accounts : []));
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

  const below = (call: Call) => new Set(calls.slice(calls.indexOf(call), ends(call)));
  const syncsOf = (address: Uint8Array) => syncs.filter(({ account }) => sameBytes(account, address));
  /** What an account gained beyond the known moves. */
  const untold = (account: Uint8Array) => {
    const balance = balanceOf(account);
    return (balance?.after ?? 0n) - (balance?.before ?? 0n) - change(account, moves);
  };

  return {
    of: (call) => {
      const running = below(call);
      return moves.filter((move) => running.has(move.call));
    },
    explains: (account, call) => {
      if (call.depth > 1 && !tx.depthsTold) return false;
      if (unread.some((address) => sameBytes(address, account))) return false;
      if (balanceOf(account) === undefined)
        return !tokenCalls.some(({ accounts }) =>
          accounts.some(({ address }) => sameBytes(address, account)),
        );
      const synced = syncsOf(account);
      const rest = untold(account);
      if (rest <= 0n || synced.length === 0) return rest === 0n;
      const running = below(call);
      return !synced.some((sync) => running.has(sync.call));
    },
    mayBeEmptyAfter: (account, call) => {
      const past = new Set(calls.slice(0, ends(call)));
      const told = moves.filter((move) => past.has(move.call));
      const held = (balanceOf(account)?.before ?? 0n) + change(account, told);
      const synced = syncsOf(account);
      const rest = untold(account);
      const least = synced.every((sync) => past.has(sync.call)) ? rest : 0n;
      const most = synced.some((sync) => past.has(sync.call)) ? rest : 0n;
      return held + least <= 0n && held + most >= 0n;
    },
    mintOf: (account) => balanceOf(account)?.mint,
    mints: () => balances.map(({ mint }) => mint),
  };
}
