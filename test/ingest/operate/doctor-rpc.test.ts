import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { POLITE, type RpcManners } from '../../../devnet/rpc/manners.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { checksOf } from '../../../ingest/operate/doctor/checks.ts';
import { runChecks } from '../../../ingest/operate/doctor/report.ts';
import { checkRpc } from '../../../ingest/operate/doctor/rpc.ts';
import { checkTransactions } from '../../../ingest/operate/doctor/rpc-transactions.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { MAX_BYTES } from '../../../runtime/rpc/reply-bounds.ts';
import { serveAnswers } from '../../support/answering.ts';

let chain: Chain;
let rpc: RpcServer;

beforeAll(async () => {
  chain = createChain({ dir: null, seed: 'doctor', genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed: 'doctor', policies: 3 });
  for (let made = 0; made < 90; made += 1) await chain.produce(life.next());
  rpc = await serveRpc({ ledger: chain, port: 0 });
});
beforeEach(() => rpc.faults.behave(POLITE));
afterAll(async () => {
  await rpc.close();
  chain.close();
});

/** The doctor's lines about the node. */
async function diagnose(
  manners: Partial<RpcManners>,
  env: Record<string, string> = {},
  signal = new AbortController().signal,
): Promise<string[]> {
  rpc.faults.behave(manners);
  const lines: string[] = [];
  const config = readConfig({ SOLANA_RPC_URL: rpc.url, ...env });
  const checks = checksOf(config).filter(({ variable }) => variable === 'SOLANA_RPC_URL');
  await runChecks(checks, (line) => lines.push(line), signal);
  return lines.map((line) => line.replace(/ +SOLANA_RPC_URL +/, ' '));
}

/** Affects every transaction, for this many answers about each. */
const every = (times: number) => ({ affects: () => true, times });

test('a healthy node gets a single line, ok', async () => {
  expect(await diagnose({})).toEqual([
    expect.stringMatching(/^ok at slot \d+, history from slot 1, .*: PROGRAM_START_SLOT=\d$/),
  ]);
  expect(await diagnose({ versionOne: true })).toEqual([expect.stringMatching(/^ok/)]);
});

test('a node on another chain than the stream is reported, with advice', async () => {
  const config = readConfig({ SOLANA_RPC_URL: rpc.url });
  const { slot, blockTime } = chain.tip();
  const told = (time: number) =>
    checkRpc(rpc.url, config, new AbortController().signal, Promise.resolve({ slot: slot - 9n, time })).catch(
      messageOf,
    );
  expect(await told(blockTime - 4)).toEqual([expect.objectContaining({ mark: 'ok' })]);
  expect(await told(blockTime + 900)).toMatch(
    /^is of another chain than YELLOWSTONE_ENDPOINT: .*; name a node/,
  );
});

test('with several nodes each check is named by the number of its node', () => {
  const config = readConfig({ SOLANA_RPC_URL: `${rpc.url},${rpc.url}` });
  const names = checksOf(config).map(({ variable }) => variable);
  expect(names.filter((name) => name.startsWith('SOLANA'))).toEqual(['SOLANA_RPC_URL 1', 'SOLANA_RPC_URL 2']);
});

test.each<[string, Partial<RpcManners>, RegExp]>([
  [
    'a refusal to list accounts',
    { scans: 'none' },
    /^failed accounts: it lists none of a program \(getProgramAccounts: .*; have getProgramAccounts allowed/,
  ],
  [
    'a list of accounts that lacks some',
    { unlistedOneIn: 3 },
    /^failed accounts: its list of the program's \(getProgramAccounts\) lacks some that are there: .*; have it list all/,
  ],
  ['few accounts at once', { mostAccounts: 5 }, /^note accounts: fewer than 100 at once \(.*max 5\): .*plan/],
  ['few signatures at once', { mostSignatures: 100 }, /^note lists: fewer than 1000 .*\(.*max 100\): .*plan/],
  [
    'a pool of nodes that lag',
    { pool: [0, 17, 40] },
    /^note pool: .* up to 4\d slots apart: .*; have requests pinned/,
  ],
  [
    'replies that are cut short',
    { cutOneIn: 7 },
    /^note answers: [34] of 2\d were none .*: .*; name another node/,
  ],
  [
    'transactions that are null though they are listed',
    { withheld: every(1) },
    /^note transactions: 8 of 8 that it lists are answered with null: .*gap.*; name another node/,
  ],
  [
    'transactions without meta',
    { bare: every(1) },
    /^note transactions: 8 of 8 come without meta: .*gap.*; name/,
  ],
  [
    'transactions without inner instructions and logs',
    { unrecorded: true },
    /^failed transactions: \d of 8 come without inner instructions or logs: .*; have the node record them .*, or name another/,
  ],
  [
    'a node that takes no version 1',
    { mostVersion: 0 },
    /^note versions: takes .* 0 at most: .*; name a node of a newer/,
  ],
  [
    'block times that nobody knows',
    { withoutTimes: true },
    /^note times: 8 of 8 transactions have no .*; name a node/,
  ],
])('%s: one line with advice follows the line of the node', async (_, manners, line) => {
  expect(await diagnose(manners)).toEqual([expect.stringMatching(/^ok/), expect.stringMatching(line)]);
});

test('a node that is old and whose pool lags gets a line for each problem', async () => {
  const lines = await diagnose({ mostVersion: 0, pool: [0, 30] });
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    expect.stringMatching(/^ok/),
    'note pool',
    'note versions',
  ]);
});

test('pruned history fails with two ways out: an archive node, or a later PROGRAM_START_SLOT', async () => {
  expect(await diagnose({ firstBlock: 50n })).toEqual([
    expect.stringMatching(
      /^failed .*before slot 50 is not to be had here; name an archive node .*PROGRAM_START_SLOT to its slot \(the oldest listed here is in 5\d\)/,
    ),
  ]);
  expect(await diagnose({ firstBlock: 50n }, { PROGRAM_START_SLOT: '50' })).toEqual([
    expect.stringMatching(/^ok/),
  ]);
});

test('a pruned node also fails if it lists nothing, or if its list could not be read in time', async () => {
  const pruned = { firstBlock: chain.tip().slot + 1n };
  expect(await diagnose(pruned)).toEqual([
    expect.stringMatching(
      /^failed .*is not to be had here; name an archive node .*PROGRAM_START_SLOT to its slot \(none is listed here\)$/,
    ),
  ]);
  expect(await diagnose({ firstBlock: 50n }, {}, AbortSignal.abort())).toEqual([
    expect.stringMatching(
      /^failed .*before slot 50 is not to be had here; .*to its slot \(the oldest listed here was not found out\)$/,
    ),
  ]);
});

test('a node that lists no transaction of the program fails only if PROGRAM_START_SLOT says there is one', async () => {
  const unlisted = { jumped: { fromSlot: 0n, toSlot: chain.tip().slot } };
  expect(await diagnose(unlisted, { PROGRAM_START_SLOT: '5' })).toEqual([
    expect.stringMatching(
      /^failed .*: it lists no transaction of it, and PROGRAM_START_SLOT has one in slot 5: .*; have it index/,
    ),
  ]);
  expect(await diagnose(unlisted)).toEqual([
    expect.stringMatching(/^ok .*, has the program; it lists no transaction of it$/),
  ]);
});

test('the line of a node that keeps all says if its oldest listed transaction was not found in time', async () => {
  const words = /^ok .*, has the program; how far back it lists transactions of it was not found out$/;
  for (const start of ['0', '5'])
    expect(await diagnose({}, { PROGRAM_START_SLOT: start }, AbortSignal.abort())).toEqual([
      expect.stringMatching(words),
    ]);
});

/** Nodes behind one address that answer in turns. @param changed changes a reply on its way */
async function inTurns(urls: readonly string[], changed = (reply: string): string => reply) {
  let turn = 0;
  const pool = http.createServer(async (request, response) => {
    const url = urls[turn % urls.length] as string;
    turn += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: Buffer.concat(chunks) });
    response.writeHead(answer.status, headers).end(changed(await answer.text()));
  });
  await new Promise<void>((resolve) => pool.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(pool.address() as AddressInfo).port}`,
    close: () => new Promise<unknown>((resolve) => pool.close(resolve)),
  };
}

test('behind one address with a node that has a hole, no wrong PROGRAM_START_SLOT is suggested', async () => {
  const [first] = await diagnose({});
  const wanted = /PROGRAM_START_SLOT=(\d+)/.exec(first as string)?.[1];
  expect(wanted).toBeDefined();
  const jumped = { fromSlot: 20n, toSlot: chain.tip().slot - 8n };
  const holed = await serveRpc({ ledger: chain, port: 0 });
  for (const urls of [
    [rpc.url, holed.url],
    [holed.url, rpc.url],
  ]) {
    for (const most of [10, 25, 1_000]) {
      rpc.faults.behave({ mostSignatures: most });
      holed.faults.behave({ mostSignatures: most, jumped });
      const pool = await inTurns(urls);
      const config = readConfig({ SOLANA_RPC_URL: pool.url });
      const checks = checksOf(config).filter(({ variable }) => variable === 'SOLANA_RPC_URL');
      const lines: string[] = [];
      await runChecks(checks, (line) => lines.push(line), new AbortController().signal);
      const named = /PROGRAM_START_SLOT=(\d+)/.exec(lines.join())?.[1] ?? wanted;
      expect(named).toBe(wanted);
      expect(lines[0]).toMatch(/^ok/);
      await pool.close();
    }
  }
  await holed.close();
});

test('a list that memos make too large is read in smaller pages, without a note about the plan', async () => {
  // Just long enough that a page of a hundred is too large: the reply has to be made within the time of an answer.
  const memo = `"memo":"${'m'.repeat(50_000)}"`;
  let tooLarge = 0;
  const pool = await inTurns([rpc.url], (reply) => {
    const padded = reply.replaceAll('"memo":null', memo);
    if (padded.length > MAX_BYTES.getSignaturesForAddress) tooLarge += 1;
    return padded;
  });
  const lines = await diagnose({}, { SOLANA_RPC_URL: pool.url });
  await pool.close();
  expect(lines).toEqual([expect.stringMatching(/^ok/)]);
  expect(tooLarge).toBeGreaterThan(1);
});

test('a node that answers 429 is asked no more, and the only line says so', async () => {
  const asked = rpc.asked('429');
  expect(await diagnose({ limited: { everyMs: 1_200_000, forMs: 600_000 } })).toEqual([
    expect.stringMatching(
      /^failed limits: refuses requests for \d+ s .*; have its limit raised, or name another/,
    ),
  ]);
  expect(rpc.asked('429') - asked).toBe(1);
});

test('an unreachable node gets a single line, with advice', async () => {
  expect(await diagnose({}, { SOLANA_RPC_URL: 'http://127.0.0.1:1' })).toEqual([
    expect.stringMatching(/^failed get\w+: .+: is its address right/),
  ]);
});

test('a node that redirects gets a single line, with advice', async () => {
  const moved = await serveAnswers(() => ({ status: 308, headers: { location: 'https://127.0.0.1/' } }));
  expect(await diagnose({}, { SOLANA_RPC_URL: moved.url })).toEqual([
    expect.stringMatching(/^failed get\w+: HTTP 308 .*: it sends to another address; name that one$/),
  ]);
  await moved.close();
});

test('a transaction that failed before it ran is no finding, though it has no logs or inner instructions', async () => {
  const meta = { err: 'MaxLoadedAccountsDataSizeExceeded', innerInstructions: null, logMessages: null };
  const failed = { slot: 5, blockTime: 1, meta, transaction: {} };
  const listed = [{ signature: 'any', slot: 5n, blockTime: 1, failed: true }];
  const ask = async (_method: string, _params: unknown, read: (result: unknown) => unknown) => read(failed);
  const findings = await checkTransactions(
    listed as never,
    { commitment: 'confirmed', settledTo: 90n },
    ask as never,
  );
  expect(findings.filter((one) => one !== null)).toEqual([]);
});
