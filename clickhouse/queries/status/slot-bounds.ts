/**
 * The slot before which no event has a block time after `after`: the sums of each run of 512 slots know when the last
 * of its events was. Read without FINAL: a replaced version of a row can only make the slot lower.
 */
export const FIRST_SLOT_AFTER = `(
         SELECT if(count() = 0, 18446744073709551615, min(k.span) * 512) FROM kind_spans AS k
         WHERE k.last_event > {after:Int64})`;
