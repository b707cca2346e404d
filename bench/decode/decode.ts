import anchor, { type Idl } from '@coral-xyz/anchor';
import idl from '../../schemas/bankroll.idl.json' with { type: 'json' };
import { extractEvents } from '../../schemas/extract/extract.ts';
import { decodeAccount, type Policy } from '../../schemas/program/accounts.ts';
import { decodeEvent } from '../../schemas/program/events.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { readEmissions } from '../../schemas/transaction/emissions.ts';
import { ownCalls } from '../../schemas/transaction/own-calls.ts';
import type { ChainTransaction } from '../../schemas/transaction/parts.ts';
import { kitCodec } from '../../test/schemas/support/kit-codecs.ts';
import type { Row } from '../support/row.ts';
import { PROGRAM, policyBytes, routedBytes, routeTransaction } from './input.ts';

interface Pair {
  name: string;
  bar: number | null;
  ours: () => unknown;
  baseline: () => unknown;
}

const ROUND_MS = 60;
const ROUNDS = 7;

/**
 * Measures the decoding of an account, an event and a transaction's log by our decoders and the usual ones. They take
 * turns, so that other work of the machine affects both. Rates are the median of the rounds.
 */
export async function benchDecode(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const pair of pairs()) {
    turn(pair.ours, ROUND_MS);
    turn(pair.baseline, ROUND_MS);
    const ours: number[] = [];
    const baseline: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.push(turn(pair.ours, ROUND_MS));
      baseline.push(turn(pair.baseline, ROUND_MS));
      await new Promise(setImmediate);
    }
    const [a, b] = [median(ours), median(baseline)];
    const bar = pair.bar === null ? '' : ` (bar ${pair.bar}×)`;
    rows.push({
      name: pair.name,
      value: `${a.toFixed(0)}/s against ${b.toFixed(0)}/s: ${(a / b).toFixed(1)}×${bar}`,
      ok: pair.bar === null ? null : a / b >= pair.bar,
    });
  }
  return rows;
}

function pairs(): Pair[] {
  const account = policyBytes();
  const event = routedBytes();
  const tx: ChainTransaction = routeTransaction();
  const logs = tx.logs as string[];
  const kitPolicy = kitCodec('Policy');
  const kitRouted = kitCodec('Routed');
  const coder = new anchor.BorshCoder({ ...idl, address: encodeBase58(PROGRAM) } as unknown as Idl);
  const parser = new anchor.EventParser(new anchor.web3.PublicKey(PROGRAM), coder);
  const accountBuffer = Buffer.from(account);
  return [
    {
      name: 'account, base58 keys, against kit struct codec',
      bar: 8,
      ours: () => withTextKeys(decodeAccount(account) as Policy),
      baseline: () => kitPolicy.decode(account),
    },
    {
      name: 'account, raw keys, against kit struct codec',
      bar: 40,
      ours: () => decodeAccount(account),
      baseline: () => kitPolicy.decode(account),
    },
    {
      name: 'account, raw keys, against Anchor BorshCoder',
      bar: null,
      ours: () => decodeAccount(account),
      baseline: () => coder.accounts.decode('Policy', accountBuffer),
    },
    {
      name: 'one event, raw keys, against kit struct codec',
      bar: null,
      ours: () => decodeEvent(event),
      baseline: () => kitRouted.decode(event),
    },
    {
      name: 'events of 20 log lines and 7 calls, against Anchor EventParser (lines alone)',
      bar: 15,
      ours: () => readEmissions(tx, ownCalls(tx.calls, PROGRAM), PROGRAM),
      baseline: () => [...parser.parseLogs(logs)],
    },
    {
      name: 'the same with completeness and writable accounts, against Anchor EventParser',
      bar: null,
      ours: () => extractEvents(tx, PROGRAM),
      baseline: () => [...parser.parseLogs(logs)],
    },
  ];
}

function withTextKeys(policy: Policy): object {
  return {
    ...policy,
    mint: encodeBase58(policy.mint),
    quoteMint: encodeBase58(policy.quoteMint),
    feeKeyMint: encodeBase58(policy.feeKeyMint),
    authority: encodeBase58(policy.authority),
    agent: encodeBase58(policy.agent),
    guardian: encodeBase58(policy.guardian),
    origin: encodeBase58(policy.origin),
    targetAsset: encodeBase58(policy.targetAsset),
  };
}

/** How often `run` runs in a second, measured over about `ms`. */
function turn(run: () => unknown, ms: number): number {
  const start = performance.now();
  let runs = 0;
  let spent = 0;
  while (spent < ms) {
    for (let batch = 0; batch < 50; batch += 1) run();
    runs += 50;
    spent = performance.now() - start;
  }
  return (runs / spent) * 1000;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] as number;
}
