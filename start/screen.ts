import path from 'node:path';
import { streamWords } from '../ingest/stream/state.ts';
import type { Config } from '../runtime/config/config.ts';
import { shownHost } from '../runtime/config/secrets.ts';
import { pause } from '../runtime/process/lifecycle.ts';
import type { DevnetAddresses, DevnetChild } from './devnet-child.ts';
import type { System } from './system.ts';

const EVERY_MS = 1_000;
/** Without a terminal a line is a record: fewer of them. */
const LINES_EVERY_MS = 10_000;

/** Prints the explorer's address, what is running and where the same is as JSON, then how far the index is, until the signal is given. */
export async function showProgress(
  system: System,
  config: Config,
  signal: AbortSignal,
  devnet: DevnetChild | null,
): Promise<void> {
  const base = `http://${config.host}:${system.api.port}`;
  const mint = await firstMint(system, signal);
  process.stdout.write(firstScreen(base, config, mint, devnet?.addresses.agent ?? null));
  const terminal = process.stdout.isTTY === true;
  let before = { updates: system.counters.updates, at: performance.now() };
  const ended = Promise.race([
    system.failed,
    (devnet?.ended ?? new Promise<void>(() => {})).then(() => {
      if (!signal.aborted) throw new Error('the local chain ended');
    }),
  ]);
  while (!signal.aborted) {
    await Promise.race([pause(terminal ? EVERY_MS : LINES_EVERY_MS, signal), ended]);
    const now = { updates: system.counters.updates, at: performance.now() };
    const perSecond = ((now.updates - before.updates) * 1000) / (now.at - before.at);
    before = now;
    const line = progressLine(system, perSecond);
    process.stdout.write(terminal ? `\r\u001b[K${line}` : `${line}\n`);
  }
  if (terminal) process.stdout.write('\n');
}

/** The mint of an indexed policy, waited for a short while. */
async function firstMint({ store }: System, signal: AbortSignal): Promise<string | null> {
  for (let attempt = 0; attempt < 20 && !signal.aborted; attempt += 1) {
    const [row] = await store.query<{ mint: string }>(
      'SELECT mint FROM policies FINAL WHERE exists ORDER BY profit_swept DESC, mint LIMIT 1',
    );
    if (row !== undefined) return row.mint;
    await pause(150, signal);
  }
  return null;
}

function firstScreen(
  base: string,
  config: Config,
  mint: string | null,
  agent: DevnetAddresses['agent'] | null,
): string {
  const chain =
    agent !== null ? 'local chain with its venues (devnet)' : shownHost(config.yellowstoneEndpoint ?? '');
  return `
The explorer:  ${base}/explorer/
A policy:      ${base}/explorer/coins/${mint ?? '<mint>'}

${config.serviceName} is serving ${base}

  chain       ${chain}
  program     ${config.programId}
  log         ${config.kafkaBrokers === null ? 'in this process' : `Kafka at ${config.kafkaBrokers.join(', ')}`}
  ClickHouse  ${config.clickhouseUrl === null ? `embedded, in ${config.dataDir}` : 'server of CLICKHOUSE_URL'}
  Postgres    ${config.postgresUrl === null ? `embedded, in ${config.dataDir}` : 'server of POSTGRES_URL'}

  as JSON     ${base}/rankings?sort=profit
              ${base}/coins/${mint ?? '<mint>'}
              ${base}/status
              ${base}/openapi.json
${agent === null ? '' : agentLine(agent)}
Ctrl-C stops it; the next start goes on from ${config.dataDir}.

`;
}

const agentLine = ({ mint, keyFile }: DevnetAddresses['agent']) =>
  `\n  an agent to post as: MINT=${mint}, its key in ${path.relative('', keyFile)}\n`;

function progressLine({ counters }: System, perSecond: number): string {
  const { tipSlot, appliedSlot, gaps } = counters;
  const { connected } = counters.stream;
  const lag = tipSlot > appliedSlot ? tipSlot - appliedSlot : 0n;
  const behind = appliedSlot === 0n || !connected ? '– slots' : `${lag} ${lag === 1n ? 'slot' : 'slots'}`;
  const open = [...gaps].map(([from, to]) => `slots ${from} to ${to} still to be read`);
  const history =
    open.length === 0
      ? connected
        ? 'history complete'
        : `history known up to slot ${appliedSlot}`
      : `history: ${open.join(', ')}`;
  const words = streamWords(counters.stream);
  const stream = words === null ? '' : ` · stream ${words}`;
  return `slot ${appliedSlot} · ${behind} behind · ${perSecond.toFixed(0)} updates/s · ${history}${stream}`;
}
