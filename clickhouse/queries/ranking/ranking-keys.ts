import { ANYTHING, UNDECODED, UNREADABLE } from '../../../schemas/incomplete.ts';
import {
  OWN_KEYS,
  OWN_SORTS,
  type OwnSort,
  perSumSort,
  type Sort,
  SUM_KEYS,
  type SumSort,
} from '../../../schemas/responses/rankings.ts';
import { notTakenBackFrom } from '../activity/derived.ts';
import { FIRST_SLOT_AFTER } from '../status/slot-bounds.ts';
import { LACKING } from '../transactions/unresolved.ts';

/** What a ranking is ordered by: the joins beside `policies AS p`, and the key; null is absent. */
export interface RankingKey {
  join: string;
  key: string;
  /** Amounts of a quote asset: ranked by dollars unless one asset is asked for. */
  money: boolean;
}

const BALANCES = `LEFT JOIN (
       SELECT address, amount, toUInt8(1) AS found FROM token_accounts FINAL WHERE exists = 1
     ) AS b ON b.address = p.bankroll`;

/** The key of a sort by a sum of events: absent where a transaction of the policy may lack some of it. */
function sumKey(sort: SumSort): RankingKey {
  const { kind, amount, column } = SUM_KEYS[sort];
  return {
    join: `LEFT JOIN (
       SELECT r.mint AS mint, sum(r.${column}) AS total FROM policy_totals AS r FINAL GROUP BY r.mint
     ) AS t ON t.mint = p.mint
     LEFT JOIN (
       SELECT DISTINCT arrayJoin(policies) AS policy, toUInt8(1) AS found FROM incomplete_by_slot FINAL
       WHERE hasAny(missing, ['${ANYTHING}', '${UNDECODED}', '${UNREADABLE}', '${kind}', '${kind}.${amount}']) AND ${LACKING}
     ) AS i ON i.policy = p.address`,
    key: 'if({sumsKnown:UInt8} = 0 OR i.found, NULL, t.total)',
    money: true,
  };
}

const EVENTS = `LEFT JOIN (
       SELECT mint, uniqExact(signature, position) AS count FROM events_by_slot
       WHERE slot >= ${FIRST_SLOT_AFTER} AND block_time > {after:Int64} AND block_time <= {until:Int64}
         AND ${notTakenBackFrom(FIRST_SLOT_AFTER)}
       GROUP BY mint
     ) AS e ON e.mint = p.mint`;

/** The cap of a pool `l` on its curve `c`, computed as in schemas/solana/launchpad.ts: floor(supply × price), in 256 bits. */
export const MARKET_CAP = `multiIf(
           c.curve_type = 0 AND l.virtual_base > l.real_base,
             intDiv(toUInt256(l.supply) * (toUInt256(l.virtual_quote) + l.real_quote),
               toUInt256(greatest(toInt256(l.virtual_base) - l.real_base, 1))),
           c.curve_type = 1 AND l.virtual_base > 0,
             intDiv(toUInt256(l.supply) * l.virtual_quote, toUInt256(greatest(l.virtual_base, 1))),
           c.curve_type = 2,
             intDiv(toUInt256(l.supply) * l.virtual_base * l.real_base, toUInt256('18446744073709551616')),
           NULL)`;

/** The caps of the pools on their curve. */
const CAPS = `LEFT JOIN (
       SELECT l.base_mint AS base_mint, l.quote_mint AS quote_mint, ${MARKET_CAP} AS cap
       FROM (SELECT * FROM pools FINAL WHERE exists = 1 AND status = 0 AND program = {launchpad:String}) AS l
       INNER JOIN (SELECT address, curve_type FROM curve_configs FINAL WHERE exists = 1) AS c
         ON c.address = l.global_config
     ) AS k ON k.base_mint = p.mint AND k.quote_mint = p.quote_mint`;

export const JOIN_QUOTE_RATES = `LEFT JOIN (
       SELECT z.1 AS mint, z.2 AS multiplier, z.3 AS divisor, toUInt8(1) AS found
       FROM (SELECT arrayJoin(arrayZip({mints:Array(String)}, {multipliers:Array(UInt256)},
         {divisors:Array(UInt256)})) AS z)
     ) AS q ON q.mint = p.quote_mint`;

const JOINED: Record<Exclude<Sort, OwnSort | SumSort>, RankingKey> = {
  marketCap: { join: CAPS, key: 'k.cap', money: true },
  bankroll: { join: BALANCES, key: 'if(b.found, b.amount, NULL)', money: true },
  activity: {
    join: EVENTS,
    key: 'if({covered:UInt8} = 0 OR has({undated:Array(String)}, p.mint), NULL, e.count)',
    money: false,
  },
};

const OWN = OWN_SORTS.map((sort): [OwnSort, RankingKey] => {
  const { column, money } = OWN_KEYS[sort];
  return [sort, { join: '', key: `p.${column}`, money }];
});

export const RANKING_KEYS: Record<Sort, RankingKey> = {
  ...JOINED,
  ...(Object.fromEntries(OWN) as Record<OwnSort, RankingKey>),
  ...perSumSort(sumKey),
};
