import { OWN_KEYS, OWN_SORTS, type OwnSort } from '../../../schemas/responses/rankings.ts';
import type { Store } from '../../client.ts';
import { CAP } from './ranking-keys.ts';

/** What a policy is found and ranked by, of its own account. */
export type RankedPolicy = Record<OwnSort, string> & {
  address: string;
  mint: string;
  quote_mint: string;
  bankroll: string;
  mode: string;
  origin_id: number;
  /** 0 for every Passive policy. */
  model: number;
  locked: number;
  paused: number;
};

const OWN = OWN_SORTS.map((sort) => `${OWN_KEYS[sort].column} AS ${sort}`).join(', ');

/** Null: all there are. */
export type KeyList = readonly string[] | null;

export const among = (column: string, name: string, keys: KeyList): string =>
  keys === null ? '1' : `${column} IN {${name}:Array(String)}`;

const POLICIES = `SELECT address, mint, quote_mint, bankroll, mode, origin_id, if(mode = 'Passive', 0, model_id) AS model,
       locked, paused, ${OWN}
     FROM policies FINAL`;

export function rankedPolicyKeys(store: Store, addresses: KeyList): Promise<RankedPolicy[]> {
  return store.query(`${POLICIES} WHERE exists = 1 AND ${among('address', 'addresses', addresses)}`, {
    addresses: addresses ?? [],
  });
}

/** The policies behind an address, in the order of their addresses, so many at most. */
export function rankedPolicyKeysAfter(store: Store, after: string, most: number): Promise<RankedPolicy[]> {
  return store.query(
    `${POLICIES} WHERE exists = 1 AND address > {after:String} ORDER BY address LIMIT {most:UInt32}`,
    { after, most },
  );
}

/** The caps of pools of a program, by their addresses or by base mint; of a pool without a cap there is no row. */
export function rankedCaps(
  store: Store,
  launchpad: string,
  addresses: KeyList,
  mints: readonly string[],
): Promise<{ address: string; base_mint: string; quote_mint: string; cap: string | null }[]> {
  return store.query(
    `SELECT l.address AS address, l.base_mint AS base_mint, l.quote_mint AS quote_mint, toString(${CAP}) AS cap
     FROM (SELECT * FROM pools FINAL WHERE exists = 1 AND status = 0 AND program = {launchpad:String}
       AND (${among('address', 'addresses', addresses)} OR base_mint IN {mints:Array(String)})) AS l
     INNER JOIN (SELECT address, curve_type FROM curve_configs FINAL WHERE exists = 1) AS c
       ON c.address = l.global_config`,
    { launchpad, addresses: addresses ?? [], mints },
  );
}

/** What these token accounts hold, those of all policies' bankrolls where null. */
export function rankedBalances(
  store: Store,
  addresses: KeyList,
): Promise<{ address: string; amount: string }[]> {
  const which =
    addresses === null
      ? 'address IN (SELECT bankroll FROM policies)'
      : among('address', 'addresses', addresses);
  return store.query(`SELECT address, amount FROM token_accounts FINAL WHERE exists = 1 AND ${which}`, {
    addresses: addresses ?? [],
  });
}

export function rankedFees(store: Store, mints: KeyList): Promise<{ mint: string; routed: string }[]> {
  return store.query(
    `SELECT t.mint AS mint, toString(sum(t.routed)) AS routed
     FROM policy_totals AS t FINAL
     WHERE ${among('t.mint', 'mints', mints)}
     GROUP BY t.mint`,
    { mints: mints ?? [] },
  );
}

/** Names and symbols of mints, those of all policies where null; of the account that a mint points at where it does. */
export function rankedNames(
  store: Store,
  mints: KeyList,
): Promise<{ address: string; name: string; symbol: string }[]> {
  const which =
    mints === null ? 'm.address IN (SELECT mint FROM policies)' : among('m.address', 'mints', mints);
  return store.query(
    `SELECT n.address AS address, if(x.found, x.name, n.name) AS name, if(x.found, x.symbol, n.symbol) AS symbol
     FROM (
       SELECT m.address AS address, ifNull(m.name, '') AS name, ifNull(m.symbol, '') AS symbol,
         ifNull(m.metadata_pointer, '') AS pointer
       FROM mints AS m FINAL WHERE m.exists = 1 AND ${which}
     ) AS n
     LEFT JOIN (
       SELECT address, mint, name, symbol, toUInt8(1) AS found FROM metadata_accounts FINAL WHERE exists = 1
     ) AS x ON x.address = n.pointer AND x.mint = n.address`,
    { mints: mints ?? [] },
  );
}
