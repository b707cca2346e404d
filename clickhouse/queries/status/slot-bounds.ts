/**
 * The slot before which no event has a block time after `after`: the sums of each run of 512 slots know when the last
 * of its events was. A version of a row that was replaced may only tell of an earlier slot.
 */
export const FIRST_SLOT_AFTER = `(
         SELECT if(count() = 0, 18446744073709551615, min(k.span) * 512) FROM kind_spans AS k
         WHERE k.last_event > {after:Int64})`;
