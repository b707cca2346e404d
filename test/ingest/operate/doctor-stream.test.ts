import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import type { ProviderModes } from '../../../devnet/geyser/modes.ts';
import { type GeyserServer, serveGeyser } from '../../../devnet/geyser/server.ts';
import { checksOf } from '../../../ingest/operate/doctor/checks.ts';
import { runChecks } from '../../../ingest/operate/doctor/report.ts';
import { readConfig } from '../../../runtime/config/config.ts';

let chain: Chain;
let geyser: GeyserServer;

beforeEach(async () => {
  chain = createChain({ dir: null, seed: 'doctor', genesisTime: 1_760_000_000_000 });
  for (let made = 0; made < 40; made += 1) await chain.produce([]);
  geyser = await serveGeyser({ ledger: chain, port: 0, xToken: 'secret' });
});

afterEach(async () => {
  await geyser.close();
  chain.close();
});

/** The lines about the stream, while slots go on. */
async function diagnose(
  modes: Partial<ProviderModes>,
  token = 'secret',
  { signal } = new AbortController(),
): Promise<string[]> {
  geyser.become(modes);
  const lines: string[] = [];
  // No slots before the doctor streams, so that the first update is the next slot however long it takes to get there.
  let isFollowed = false;
  void geyser.followed.then(() => {
    isFollowed = true;
  });
  const slots = setInterval(() => isFollowed && void chain.produce([]), 50);
  const config = readConfig({
    YELLOWSTONE_ENDPOINT: `127.0.0.1:${geyser.port}`,
    YELLOWSTONE_X_TOKEN: token,
  });
  const checks = checksOf(config).filter(({ variable }) => variable === 'YELLOWSTONE_ENDPOINT');
  await runChecks(checks, (line) => lines.push(line), signal);
  clearInterval(slots);
  return lines;
}

test('a provider that offers everything gets three ok lines', async () => {
  const lines = await diagnose({});
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toMatch(/^ok/);
  expect(lines[1]).toMatch(/replay: 8 slots back, kept from slot \d+/);
});

test('on a chain that has just begun, a replay of fewer than 8 slots is tried', async () => {
  await geyser.close();
  chain.close();
  chain = createChain({ dir: null, seed: 'doctor', genesisTime: 1_760_000_000_000 });
  geyser = await serveGeyser({ ledger: chain, port: 0, xToken: 'secret' });
  for (let made = 0; made < 3; made += 1) await chain.produce([]);
  expect((await diagnose({}))[1]).toMatch(/^ok.*replay: [1-7] slots? back/);
});

test.each([
  ['off', /none \(from_slot is not supported\)/],
  ['failed', /none \(failed to get replay response\)/],
  ['silent', /none \(the server ended the stream\)/],
  ['unavailable', /none \(no server for slot \d+\)/],
  ['data-loss', /none \(slot \d+ is gone\)/],
  ['out-of-range', /none \(broadcast from \d+ is not available, last available: \d+\)/],
  ['invalid', /none \(from_slot \d+ is too old\)/],
  ['empty', /taken, and nothing of the past comes/],
] as const)(
  'a replay that is %s gets a note with the reason, what that costs, and advice',
  async (replay, why) => {
    const advice =
      'what a disconnection misses is a gap that is read over SOLANA_RPC_URL; have the provider switch replay on';
    expect((await diagnose({ replay }))[1]).toMatch(
      new RegExp(`^note +YELLOWSTONE_ENDPOINT +replay: ${why.source}: ${advice}$`),
    );
  },
);

test('a limit on addresses is reported with the number that the provider takes', async () => {
  expect((await diagnose({ addresses: 10 }))[2]).toMatch(/^note.*takes 10 addresses .*account_max/);
  expect((await diagnose({ terse: true }))[2]).toMatch(/^note.*takes 7 addresses/);
  expect((await diagnose({ addresses: 0 }))[2]).toMatch(/^note.*takes no addresses/);
});

test.each([
  [{ beside: 'unavailable' }, /none \(no server for this request\): .*read over RPC.*ask the provider/],
  [{ beside: 'ended' }, /none \(the server ended the stream\): .*read over RPC.*ask the provider/],
  [{ beside: 'limited' }, /none \(Too many connections: .*read over RPC.*ask the provider/],
  [
    { streams: 1, newest: true },
    /not beside another stream \(a newer stream .*\): .*a plan with two at a time/,
  ],
  [{ streams: 1 }, /not beside another stream \(.*only 1 allowed\): .*a plan with two at a time/],
] as const)(
  'a stream of addresses that the provider refuses or ends gets a note with advice (%o)',
  async (modes, line) => {
    const [first, , filters] = await diagnose(modes);
    expect(first).toMatch(/^ok/);
    expect(filters).toMatch(/^note/);
    expect(filters).toMatch(line);
  },
);

test('a limit on the size of a request is reported as the number of addresses that fit', async () => {
  expect((await diagnose({ requestBytes: 4_096 }))[2]).toMatch(/^note.*takes 62 addresses .*account_max/);
});

test('a provider with quirks that ingest copes with gets three ok lines', async () => {
  const lines = await diagnose({ replay: 'lenient', named: 1, late: true, servers: 3, nameless: true });
  expect(lines.map((line) => line.slice(0, 2))).toEqual(['ok', 'ok', 'ok']);
});

test('a limit that is reached fails with the first 120 characters of what the provider says, and advice', async () => {
  for (const words of [
    'quota of the day is used up',
    'Too many connections: the limit of 5 is reached',
    'no more than 2 filters for this address',
    'slow down',
    'x'.repeat(500),
  ]) {
    geyser.faults.limit(words);
    expect(await diagnose({})).toEqual([
      `failed  YELLOWSTONE_ENDPOINT  ${words.slice(0, 120)}: end other streams of this token, or take a larger plan`,
    ]);
  }
});

test('block metas without a parent fail with advice', async () => {
  expect(await diagnose({ parentless: true })).toEqual([
    expect.stringMatching(/^failed.*block metas come without their parent, slot \d+: .*ask the provider/),
  ]);
});

test('a wrong token fails with a line that names YELLOWSTONE_X_TOKEN', async () => {
  expect(await diagnose({}, 'wrong')).toEqual([expect.stringMatching(/^failed.*YELLOWSTONE_X_TOKEN/)]);
});

test.each([
  ['pings alone come', { pings: true }],
  ['nothing comes', {}],
] as const)('if %s, the only line is failed and says that the node stands still', async (_, modes) => {
  geyser.faults.stall(Object.keys(modes).length === 0);
  const enough = { signal: AbortSignal.timeout(700) };
  expect(await diagnose(modes, 'secret', enough as AbortController)).toEqual([
    expect.stringMatching(/^failed.*no slot came in time: .*its node stands still; ask the provider/),
  ]);
});

test('a provider that cuts off slow readers is reported, whichever check was running', async () => {
  expect(await diagnose({ lag: 1 })).toEqual([
    expect.stringMatching(/^failed.*lagged: it cuts off who reads too slowly: .*bandwidth/),
  ]);
  const lines = await diagnose({ lag: 5 });
  expect(lines[0]).toMatch(/^ok/);
  for (const line of lines.slice(1))
    expect(line).toMatch(/^ok|^note.*the stream ended \(lagged\): it cuts off/);
});

test('the process waits for the retry of a refused stream, then prints all lines and exits with 0', async () => {
  geyser.become({ streams: 1 });
  const slots = setInterval(() => void chain.produce([]), 50);
  const env = { YELLOWSTONE_ENDPOINT: `127.0.0.1:${geyser.port}`, YELLOWSTONE_X_TOKEN: 'secret' };
  // Rejects where the process ends with anything but 0.
  const ended = promisify(execFile)(process.execPath, ['ingest/commands/doctor.ts'], { env });
  const { stdout } = await ended.finally(() => clearInterval(slots));
  const [streams, , filters] = stdout.split('\n');
  expect(streams).toMatch(/^ok .* streams, slot \d+/);
  expect(filters).toMatch(/^note .* not beside another stream .*; end other streams of this token/);
});
