import type { Store } from '../../../clickhouse/client.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';

/** Rest after a query, as a multiple of its duration. */
const REST = 9;
const LONGEST_REST_MS = 5_000;

/** A store that runs one query at a time and then rests for nine times as long: readers come first. */
export function throttledStore(store: Store, signal: AbortSignal): Store {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...store,
    query: <Row>(sql: string, params?: Parameters<Store['query']>[1]): Promise<Row[]> => {
      const turn = last.then(async () => {
        const began = performance.now();
        const answer = await (params === undefined ? store.query<Row>(sql) : store.query<Row>(sql, params));
        return { answer, restMs: Math.min(LONGEST_REST_MS, REST * (performance.now() - began)) };
      });
      last = turn.then(
        ({ restMs }) => pause(restMs, signal),
        () => {},
      );
      return turn.then(({ answer }) => answer);
    },
  };
}
