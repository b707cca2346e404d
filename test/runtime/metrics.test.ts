import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createRegistry, type MetricsServer, serveMetrics } from '../../runtime/process/metrics.ts';
import { beginWait, createReadiness } from '../../runtime/process/readiness.ts';

let server: MetricsServer | null = null;
afterEach(() => server?.close());

test('metrics, liveness and readiness are served, and readiness names what is missing', async () => {
  const missing = ['no stream yet'];
  server = await serveMetrics(createRegistry('test'), async () => missing, '127.0.0.1', 0);
  const get = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${server?.port}${path}`, { method });
  expect(await (await get('/metrics')).text()).toContain('process_resident_memory_bytes{process="test"}');
  expect((await get('/live')).status).toBe(200);
  const unready = await get('/ready?x=1');
  expect([unready.status, await unready.json()]).toEqual([503, { ready: false, missing: ['no stream yet'] }]);
  missing.length = 0;
  expect((await get('/ready')).status).toBe(200);
  expect((await get('/else')).status).toBe(404);
  expect((await get('/live', 'POST')).status).toBe(405);
});

test('readiness shows what a process waits for, cut and without logins of addresses, until it waits no more', async () => {
  const { tell, probe } = beginWait();
  const missing = () => createReadiness(new Map([['log', probe]]))();
  expect(await missing()).toEqual(['log: not begun yet']);
  tell(`looking for topics: http://us:hidden@kafka does not answer ${'x'.repeat(1_000)}`);
  const [words] = await missing();
  expect(words).toMatch(/^log: looking for topics: .*kafka does not answer x+$/);
  expect(words).not.toContain('hidden');
  expect(words?.length).toBeLessThan(400);
  tell(null);
  expect(await missing()).toEqual([]);
});

test('a port that is taken fails with a ConfigError that names METRICS_PORT', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const taken = serveMetrics(createRegistry('test'), async () => [], '127.0.0.1', port);
  await expect(taken).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringMatching(new RegExp(`port ${port} already: stop it, or set METRICS_PORT`)),
  });
  other.close();
});
