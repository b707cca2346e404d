import { afterEach, describe, expect, test } from 'vitest';
import { symbolOf } from '../../api/explorer/browser/text/words.ts';
import { letAgentsPost } from '../../devnet/agents/agents.ts';
import { hear } from '../../devnet/agents/hearing.ts';
import { remarkOn } from '../../devnet/agents/remarks.ts';
import { amountText, percentText, type Scene, unitOf } from '../../devnet/agents/scene.ts';
import { createVoice } from '../../devnet/agents/voice.ts';
import { createChain } from '../../devnet/chain/chain.ts';
import { agentKeypair } from '../../devnet/life/agent-keys.ts';
import { RESIDENT, SPEAKER } from '../../devnet/life/cast.ts';
import { createLife } from '../../devnet/life/life.ts';
import { launchMint, profileOf } from '../../devnet/life/profile.ts';
import { AGENT, REMOTE } from '../../devnet/program/state/state.ts';
import { POST_KINDS } from '../../schemas/responses/coin/posts.ts';
import { serveAnswers } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';
import { openStage } from './stage.ts';

const SEED = process.env.SEED ?? 'agents';
const POLICIES = 4;

async function grown(blocks: number) {
  const chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed: SEED, policies: POLICIES, rate: 4 });
  const more = async (count: number) => {
    for (let block = 0; block < count; block += 1) await chain.produce(life.next());
  };
  await more(blocks);
  return { chain, more };
}

describe(`remarks of the agents on devnet (SEED=${SEED})`, () => {
  test('a remark is readable text of a known post kind, and only policies in Agent mode have remarks', async () => {
    const { chain, more } = await grown(1);
    const mints = [...Array(POLICIES).keys()].map((number) => launchMint(SEED, number));
    const heard = hear(chain, new Map(mints.map((mint, number) => [mint, number])));
    const said = new Map<string, Set<string>>();
    for (let block = 0; block < 600; block += 1) {
      await more(1);
      for (const [mint, { remark, label }] of heard.waiting) {
        const event = label.split(':').at(-1) as string;
        expect(POST_KINDS).toContain(remark.kind);
        expect(remark.text.length, remark.text).toBeLessThan(400);
        expect(remark.text, label).not.toMatch(/undefined|null|NaN|\d{12}| {2}/);
        expect(heard.policyOf(mint)?.mode).toBe(AGENT);
        said.set(event, (said.get(event) ?? new Set()).add(remark.kind));
      }
      heard.waiting.clear();
    }
    heard.close();
    expect([...said.keys()]).toEqual(
      expect.arrayContaining(['AgentFundedVenue', 'CreditNoted', 'ProfitSwept']),
    );
    expect([...(said.get('AgentFundedVenue') ?? [])]).toEqual(expect.arrayContaining(['trade']));
  });

  test.each([
    ['exactly at', 700n, /made good|that gap|ahead|as profit|for the holders/],
    ['below', 699n, /nothing to sweep|ahead|as profit|for the holders/],
    ['above', 701n, /made good|that gap|nothing to sweep/],
  ])('the remark on a CreditNoted event fits equity %s the high-water mark', (side, bankroll, unfit) => {
    for (const lot of [0, 1, 2]) {
      const scene = {
        ...{ policy: { hwm: 700n }, venue: null, before: null, bankroll, deployed: 0n },
        ...{ unit: { decimals: 0, symbol: 'USDX' }, random: { pick: (list: string[]) => list[lot] } },
      } as unknown as Scene;
      const { text = '' } = remarkOn({ kind: 'CreditNoted', fields: { amount: 1n } } as never, scene) ?? {};
      expect(text).toContain(`${side} the high water mark`);
      expect(text).not.toMatch(unfit);
    }
  });

  test('money sent to a venue counts as at work at once, and its arrival there is not reported as a gain', async () => {
    const stage = await openStage();
    await stage.init({ mode: AGENT });
    const { mint, agent } = stage.policy();
    const unit = 10n ** BigInt(unitOf(stage.chain.seed, 1).decimals);
    const tokenAccount = await stage.register('perpetuals', { venueKind: REMOTE, assetClass: 16 });
    await stage.report(tokenAccount, 0n);
    await stage.pay(stage.chain.addresses.ofPolicy(mint).bankroll, 100n * unit);
    const heard = hear(stage.chain, new Map([[mint, 1]]));
    const said = () => {
      const { text } = heard.waiting.get(mint)?.remark ?? { text: null };
      heard.waiting.delete(mint);
      return text;
    };
    const send = (amount: bigint) =>
      stage.run({ kind: 'agent_fund_venue', mint, by: agent, tokenAccount, amount, venues: stage.pairs() });
    const arrive = (amount: bigint) =>
      stage.run({ kind: 'transfer', account: tokenAccount, amount, direction: 'out' });

    await send(50n * unit);
    expect(said()).toContain(' 50% of the equity is at work');
    await arrive(50n * unit);
    await stage.report(tokenAccount, 50n * unit);
    await send(10n * unit);
    expect(said()).toContain(' 60% of the equity is at work');
    // The money arrives in two reports of one block.
    const report = { kind: 'report_remote_equity', mint, by: stage.who.reporter, tokenAccount } as const;
    await stage.chain.produce([
      { kind: 'transfer', account: tokenAccount, amount: 10n * unit, direction: 'out' },
      { ...report, equity: 56n * unit, notional: 0n, asof: stage.now() },
      { ...report, equity: 60n * unit, notional: 0n, asof: stage.now() },
    ]);
    expect(said()).toBeNull();
    await stage.report(tokenAccount, 66n * unit);
    expect(said()).toMatch(/, up 10% since the report before\. I hold/);
    await send(4n * unit);
    await arrive(4n * unit);
    await stage.report(tokenAccount, 63n * unit);
    expect(said()).toContain(', down 10% since the report before, what I sent apart. I hold');
    heard.close();
  });

  test('a nameless quote asset has the symbol that the explorer shows for it', () => {
    const numbers = [...Array(100).keys()];
    const quoteOf = (number: number) => profileOf(SEED, number, '').quote;
    const nameless = numbers.find((number) => quoteOf(number).symbol === 'NAMELESS') as number;
    expect(unitOf(SEED, nameless).symbol).toBe(symbolOf(null, quoteOf(nameless).mint));
    const dollars = numbers.find((number) => quoteOf(number).symbol === 'USDX') as number;
    expect(unitOf(SEED, dollars).symbol).toBe('USDX');
  });

  test('amounts are truncated, never rounded, and a tiny amount reads "less than 0.0001" instead of 0', () => {
    expect(amountText(1_234_567_899_999n, { decimals: 6, symbol: 'USDX' })).toBe('1,234,567.8999 USDX');
    expect(amountText(1n, { decimals: 6, symbol: 'USDX' })).toBe('less than 0.0001 USDX');
    expect(amountText(0n, { decimals: 6, symbol: 'USDX' })).toBe('0 USDX');
    expect([percentText(1n, 3n), percentText(99n, 1000n), percentText(1n, 0n)]).toEqual([
      '33%',
      '9.9%',
      '0%',
    ]);
  });
});

describe('agents on devnet that post over the API', () => {
  const stop = new AbortController();
  afterEach(() => stop.abort());

  test('the agent of the showcased policy signs in with its key and posts; the one left to a person stays silent', async () => {
    const { chain } = await grown(60);
    const message = 'test agent session\nURL: https://the.service\nand so on';
    const api = await serveAnswers(({ path }) => {
      if (path.endsWith('/challenge')) return { body: { nonce: 'once', message } };
      if (path.endsWith('/session')) return { body: { token: 'a token' } };
      return { status: 201, body: {} };
    });
    const posting = letAgentsPost({
      ...{ chain, policies: POLICIES, api: api.url, publicUrl: 'https://the.service' },
      ...{ optionsVenue: `${api.url}/options`, signal: stop.signal },
    });
    const { asked } = api;
    await awaited(() => expect(asked.map(({ path }) => path)).toContain('/api/agent/posts'));
    stop.abort();
    await posting;
    await api.close();
    const mint = launchMint(SEED, SPEAKER);
    const keypair = agentKeypair(SEED, mint);
    const [challenge, session, post] = asked.map(({ body }) => body);
    expect(challenge).toEqual({ mint, agent: keypair.key });
    expect(session).toMatchObject({
      ...{ mint, nonce: 'once' },
      signature: Buffer.from(keypair.sign(Buffer.from(message))).toString('base64'),
    });
    expect(post).toMatchObject({ kind: expect.any(String), text: expect.stringMatching(/\w+/) });
    expect(JSON.stringify(asked)).not.toContain(launchMint(SEED, RESIDENT));
  });

  test('an agent does not sign a challenge that names another service', async () => {
    const api = await serveAnswers(({ path }) =>
      path.endsWith('/challenge')
        ? { body: { nonce: 'once', message: 'test agent session\nURL: https://another.one' } }
        : { status: 201, body: { token: 'a token' } },
    );
    const mint = launchMint(SEED, SPEAKER);
    const service = { api: api.url, publicUrl: 'https://the.service' };
    const voice = createVoice(service, mint, agentKeypair(SEED, mint), new AbortController().signal);
    expect(await voice.write('posts', { text: 'words' })).toBeNull();
    expect(api.asked.map(({ path }) => path)).toEqual(['/api/agent/challenge']);
    await api.close();
  });
});
