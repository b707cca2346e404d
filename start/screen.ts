import path from 'node:path';
import { mostSweptMint } from '../clickhouse/queries/states/policy.ts';
import { streamWords } from '../ingest/stream/state.ts';
import type { Config } from '../runtime/config/config.ts';
import { shownHost } from '../runtime/config/secrets.ts';
import { pause } from '../runtime/process/lifecycle.ts';
import { HOUR_MS } from '../schemas/units.ts';
import type { DevnetAddresses, DevnetChild } from './devnet-child.ts';
import { localUrl } from './local-url.ts';
import type { System } from './system.ts';

const EVERY_MS = 1_000;
/** Without a terminal a line is a record: fewer of them. */
const LINES_EVERY_MS = 10_000;
/** How long the screen keeps asking for the policies that it names. */
const SERVED_MS = 20_000;
/** How often it looks for a policy at most: a chain that is not the local one may have none. */
const TRIES = 20;
const TRY_AGAIN_MS = 150;
const ASK_MS = 250;
/** A local chain whose applied slots are older than this still lives through its past. */
const OF_NOW_MS = 60_000;

/** Prints the explorer's address, what is running and the JSON routes, then how far the index is, until stopped. */
export async function showProgress(
  system: System,
  config: Config,
  signal: AbortSignal,
  devnet: DevnetChild | null,
): Promise<void> {
  const base = localUrl(config.host, system.api.port);
  process.stdout.write(`\nThe explorer:  ${base}/explorer/\n`);
  const ended = Promise.race([
    system.failed,
    (devnet?.ended ?? new Promise<void>(() => {})).then(() => {
      if (!signal.aborted) throw new Error('the local chain ended');
    }),
  ]);
  let before = { updates: system.counters.updates, at: performance.now() };
  const awaiting = new AbortController();
  const mint = await Promise.race([
    named(system, base, devnet, AbortSignal.any([signal, awaiting.signal])),
    ended.then(() => null),
  ]).finally(() => awaiting.abort());
  process.stdout.write(firstScreen(base, config, mint, devnet?.addresses ?? null));
  const terminal = process.stdout.isTTY === true;
  while (!signal.aborted) {
    const now = { updates: system.counters.updates, at: performance.now() };
    const perSecond = ((now.updates - before.updates) * 1000) / (now.at - before.at);
    before = now;
    const line = progressLine(system, perSecond, devnet !== null);
    process.stdout.write(terminal ? `\r\u001b[K${fitting(line, process.stdout.columns)}` : `${line}\n`);
    await Promise.race([pause(terminal ? EVERY_MS : LINES_EVERY_MS, signal), ended]);
  }
  process.stdout.write(`${terminal ? '\n' : ''}Stopping; everything stays in ${config.dataDir}.\n`);
}

/** A line wider than its terminal would wrap and leave a row behind each second; some terminals tell no width. */
const fitting = (line: string, columns: number | undefined): string =>
  !columns || line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;

/** The mint of the policy that the screen names; waits a short while for one. */
const named = (
  system: System,
  base: string,
  devnet: DevnetChild | null,
  signal: AbortSignal,
): Promise<string | null> =>
  devnet === null ? firstMint(system, signal) : castServed(base, devnet.addresses, signal);

/** The mint of an indexed policy, on another chain than the local one. A store that is away has none. */
async function firstMint({ store }: System, signal: AbortSignal): Promise<string | null> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(SERVED_MS)]);
  for (let attempt = 0; attempt < TRIES && !until.aborted; attempt += 1) {
    const mint = await mostSweptMint(store).catch(() => null);
    if (mint !== null) return mint;
    await pause(TRY_AGAIN_MS, until);
  }
  return null;
}

/** The mint of the policy to look at on a local chain, once both policies that the screen names are served. */
async function castServed(
  base: string,
  { agent, speaker }: DevnetAddresses,
  signal: AbortSignal,
): Promise<string> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(SERVED_MS)]);
  for (const mint of [agent.mint, ...(speaker === null ? [] : [speaker])]) {
    const served = async () =>
      (await fetch(`${base}/coins/${mint}`, { signal: until }).catch(() => null))?.ok === true;
    while (!until.aborted && !(await served())) await pause(ASK_MS, until);
  }
  return speaker ?? agent.mint;
}

function firstScreen(
  base: string,
  config: Config,
  mint: string | null,
  devnet: DevnetAddresses | null,
): string {
  const chain =
    devnet !== null ? 'local chain with its venues (devnet)' : shownHost(config.yellowstoneEndpoint ?? '');
  const policy = mint ?? '<mint>';
  const posts = devnet?.speaker === mint ? '   its agent posts while you look' : '';
  return `A policy:      ${base}/explorer/coins/${policy}${posts}

${config.serviceName} is serving ${base}

  chain       ${chain}
  program     ${config.programId}
  log         ${config.kafkaBrokers === null ? 'in this process' : `Kafka at ${config.kafkaBrokers.join(', ')}`}
  ClickHouse  ${config.clickhouseUrl === null ? `embedded, in ${config.dataDir}` : 'server of CLICKHOUSE_URL'}
  Postgres    ${config.postgresUrl === null ? `embedded, in ${config.dataDir}` : 'server of POSTGRES_URL'}

  as JSON     ${base}/rankings?sort=profit
              ${base}/coins/${policy}
              ${base}/status
              ${base}/openapi.json
${devnet === null ? '' : agentLine(devnet.agent)}
Ctrl-C stops it; the next start goes on from ${config.dataDir}.

`;
}

const agentLine = ({ mint, keyFile }: DevnetAddresses['agent']) =>
  `\n  an agent to post as: MINT=${mint}, its key in ${nearest(keyFile)}\n`;

/** Relative to the working directory where the file lies below it, else absolute. */
function nearest(file: string): string {
  const below = path.relative('', file);
  return below.startsWith('..') ? path.resolve(file) : below;
}

function progressLine({ counters }: System, perSecond: number, isLocal: boolean): string {
  const { tipSlot, appliedSlot, appliedTime } = counters;
  const { connected } = counters.stream;
  const lag = tipSlot > appliedSlot ? tipSlot - appliedSlot : 0n;
  const behind = appliedSlot === 0n || !connected ? '– slots' : `${lag} ${lag === 1n ? 'slot' : 'slots'}`;
  const words = streamWords(counters.stream);
  // A narrow terminal cuts off the end of the line, so what is unusual stands first.
  const past = isLocal ? pastWords(appliedTime, Date.now()) : [];
  const unusual = [...(words === null ? [] : [`stream ${words}`]), ...past];
  const usual = [
    appliedSlot === 0n ? 'no slot yet' : `slot ${appliedSlot}`,
    `${behind} behind`,
    `${perSecond.toFixed(0)} updates/s`,
    ...historyWords(counters, past.length > 0),
  ];
  return [...unusual, ...usual].join(' · ');
}

/** @param isLiving a past that is still being lived has no history yet that could be complete */
function historyWords({ appliedSlot, gaps, stream }: System['counters'], isLiving: boolean): string[] {
  const open = [...gaps].map(([from, to]) => `slots ${from} to ${to} still to be read`);
  if (open.length > 0) return [`history: ${open.join(', ')}`];
  // Before a slot is applied it is not known what the store lacks.
  if (appliedSlot === 0n) return ['history not looked at yet'];
  if (!stream.connected) return [`history known up to slot ${appliedSlot}`];
  return isLiving ? [] : ['history complete'];
}

/** A fresh local chain first makes the blocks of its past: how much of that is left. Empty once it has come to now. */
function pastWords(appliedTime: number | null, nowMs: number): string[] {
  if (appliedTime === null) return [];
  const left = nowMs - appliedTime * 1000;
  if (left < OF_NOW_MS) return [];
  const hours = Math.ceil(left / HOUR_MS);
  return [`the local chain lives through its past: ${hours} ${hours === 1 ? 'hour' : 'hours'} to go`];
}
