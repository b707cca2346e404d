import { expect, test } from 'vitest';
import { createGapCloser } from '../../../ingest/history/gap-closer.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import { awaited } from '../../support/awaited.ts';
import { openStreamStage } from '../support/stream-stage.ts';

test('history that fails again and again says what it waits for, in words of ours, until it goes on', async () => {
  const stage = await openStreamStage({ seed: 'stalled', policies: 3 });
  await stage.live(20);
  const { slot: toSlot } = stage.chain.tip();
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  const real = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  let isDead = true;
  const refused = new RpcError('unreachable', 'http://KEY@node.example is away', {
    cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
  });
  const rpc = new Proxy(real, {
    get: (target, name) => (isDead ? () => Promise.reject(refused) : Reflect.get(target, name)),
  }) as Rpc;
  const said: (string | null)[] = [];
  const stop = new AbortController();
  const gaps = createGapCloser({
    ...{ rpc, programId: stage.chain.programId, signal: stop.signal },
    log: { append: async () => {}, close: async () => {} },
    logger: createLogger('silent', 'test'),
    onStalled: (reason) => said.push(reason),
  });
  gaps.add({ fromSlot: 0n, toSlot, toTime: null });
  await awaited(() => expect(said.length).toBeGreaterThan(1));
  expect(new Set(said)).toEqual(new Set(['SOLANA_RPC_URL (refused)']));
  isDead = false;
  await gaps.idle();
  expect(said.indexOf(null)).toBe(said.length - 1);
  stop.abort();
  await stage.close();
});
