import { expect, test } from 'vitest';
import type { Params, Store } from '../../../clickhouse/client.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';

test('traces of 2001 transactions to strike are queried at most 500 at a time, each in its own slot', async () => {
  const asked: number[] = [];
  const query = async (sql: string, params: Params = {}) => {
    const signatures = params.signatures as string[];
    asked.push(signatures.length);
    return signatures.map((signature) =>
      sql.includes('FROM policy_transactions')
        ? { signature, slot: signature.slice(1), policy: `p${signature}` }
        : { signature, slot: signature.slice(1), position: 0, policy: `p${signature}`, log_partition: 0 },
    );
  };
  const { verification } = storedState({ query } as unknown as Store);
  const ghosts = Array.from({ length: 2_000 }, (_, slot) => ({ signature: `s${slot}`, slot: BigInt(slot) }));
  // A transaction whose slot died may be stored in two slots.
  const again = { signature: 's0', slot: 5_000n };
  const traces = (await verification?.tracesOf([...ghosts, again])) ?? [];
  expect(Math.max(...asked)).toBeLessThanOrEqual(500);
  expect(traces).toHaveLength(2_001);
  for (const [at, { signature, policies, events }] of traces.entries()) {
    const isOf = at < 2_000;
    expect(policies).toEqual(isOf ? [`p${signature}`] : []);
    expect(events).toHaveLength(isOf ? 1 : 0);
  }
});
