import { MODES } from '../../schemas/program/accounts.ts';
import {
  ORDERS,
  type Order,
  type RankingFilters,
  SORTS,
  type Sort,
} from '../../schemas/responses/rankings.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { pageOf } from '../http/paging.ts';

/** A ranking as asked for, its page clamped to what is served. */
export interface RankingParameters {
  sort: Sort;
  order: Order;
  limit: number;
  offset: number;
  filters: RankingFilters;
}

const FLAGS = ['true', 'false'] as const;

/** Reads the query of `/rankings`: the request, or the sentence of a 400. */
export function readRankingParameters(query: URLSearchParams): RankingParameters | { error: string } {
  try {
    return {
      sort: oneOf(query.get('sort'), SORTS, 'ranking') ?? 'marketCap',
      order: oneOf(query.get('order'), ORDERS, 'order') ?? 'desc',
      ...pageOf(query, { fallback: 50, max: 200 }),
      filters: {
        mode: oneOf(query.get('mode'), MODES, 'mode'),
        origin: integer(query.get('origin'), 'origin'),
        model: integer(query.get('model'), 'model'),
        quote: key(query.get('quote'), 'quote'),
        locked: flag(query.get('locked'), 'locked'),
        paused: flag(query.get('paused'), 'paused'),
        search: query.get('search') === '' ? null : query.get('search'),
      },
    };
  } catch (error) {
    if (error instanceof RangeError) return { error: error.message };
    throw error;
  }
}

function oneOf<T extends string>(text: string | null, valid: readonly T[], what: string): T | null {
  if (text === null) return null;
  const found = valid.find((value) => value === text);
  if (found === undefined) throw new RangeError(`unknown ${what} "${text}". Valid: ${valid.join(', ')}`);
  return found;
}

function flag(text: string | null, what: string): boolean | null {
  const value = oneOf(text, FLAGS, what);
  return value === null ? null : value === 'true';
}

function integer(text: string | null, what: string): number | null {
  if (text === null) return null;
  if (!/^[+-]?\d+$/.test(text)) throw new RangeError(`unknown ${what} "${text}". Valid: an integer`);
  return Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

function key(text: string | null, what: string): string | null {
  if (text === null) return null;
  if (decodeKey(text) === null) throw new RangeError(`unknown ${what} "${text}". Valid: a base58 public key`);
  return text;
}
