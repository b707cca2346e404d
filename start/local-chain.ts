import type { Store } from '../clickhouse/client.ts';
import { placeBefore } from '../clickhouse/queries/progress/indexed-chain.ts';
import { ConfigError } from '../runtime/errors.ts';
import type { Rpc } from '../runtime/rpc/rpc.ts';
import { MOST_APART_S } from '../runtime/rpc/same-chain.ts';
import { isoTime } from '../schemas/units.ts';

/**
 * How far back to compare: a power loss may cost the chain its end, which it makes anew. That is reported elsewhere.
 */
const END_SLOTS = 1_000n;

/**
 * Checks that the local chain is the one that was indexed. A chain that began anew has other slots under the same
 * numbers; once it reached the end of the log, its slots would be indexed on top of the other chain's.
 * @throws ConfigError where it is another chain; RpcError
 */
export async function mustBeIndexedChain(
  store: Store,
  chain: Pick<Rpc, 'getSlot' | 'getBlockTime'>,
): Promise<void> {
  const known = await placeBefore(store, END_SLOTS);
  if (known === null) return;
  const { slot, time } = known;
  const tip = await chain.getSlot();
  const told = tip < slot ? null : await chain.getBlockTime(slot);
  if (tip >= slot && (told === null || Math.abs(told - time) <= MOST_APART_S)) return;
  const here = told === null ? `ends at slot ${tip}` : `has it at ${isoTime(told)}`;
  throw new ConfigError(
    `the local chain in DATA_DIR is another than the one that ${store.database} is of, whose slot ${slot} was at ${isoTime(time)}: the chain ${here}. It began anew: remove the index and the log with it (all of DATA_DIR, where npm start has them there), or set another DATA_DIR, and CLICKHOUSE_URL and KAFKA_TOPIC_PREFIX where those are set`,
  );
}
