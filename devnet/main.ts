import { letAgentsPost } from './agents/agents.ts';
import { createChain } from './chain/chain.ts';
import { serveGeyser } from './geyser/server.ts';
import { writeKeyFile } from './key-file.ts';
import { SPEAKER } from './life/cast.ts';
import { createLife } from './life/life.ts';
import { launchMint } from './life/profile.ts';
import { residentOf } from './life/resident.ts';
import { type DevnetOptions, HELP, readOptions } from './options.ts';
import { keepProducing, livePast, makeHistory, type Past, pastEnd, SLOTS_AN_HOUR } from './pace.ts';
import { watchParent } from './parent.ts';
import { mannersNamed } from './rpc/manners.ts';
import { serveRpc } from './rpc/server.ts';
import { serveVenues } from './venues/server.ts';

/** Pause between blocks of a past: a stream should miss little of a new address before its filter names it. */
const PAST_BLOCK_MS = 15;

const FIXED_PORTS = { geyser: 10_000, rpc: 8899, venues: 8900 };

function portsOf(base: number | null): typeof FIXED_PORTS {
  if (base === null) return FIXED_PORTS;
  if (base === 0) return { geyser: 0, rpc: 0, venues: 0 };
  return { geyser: base, rpc: base + 1, venues: base + 2 };
}

async function run(options: DevnetOptions, signal: AbortSignal): Promise<void> {
  const { dir, seed, genesisTime, host, policies, rate, xToken, retentionSlots, provider } = options;
  const chain = createChain({ dir, seed, genesisTime });
  const ports = portsOf(options.portBase);
  const venues = await serveVenues({ chain, host, port: ports.venues });
  const life = createLife(chain, {
    ...{ seed, policies, rate, metadataBase: venues.metadataUrl },
    // Whoever looks at the local chain finds the configuration that is deployed.
    keepsParams: true,
  });
  const { pastHours: hours, historySlots: blocks } = options;
  const past: Past | null = hours > 0 && blocks > 0 ? { hours, blocks, blockMs: PAST_BLOCK_MS } : null;
  if (past === null) await makeHistory(chain, life, blocks, signal, told('slot', blocks));
  const geyser = await serveGeyser({
    ...{ ledger: chain, host, port: ports.geyser, xToken },
    retentionSlots: past === null ? retentionSlots : retentionSlots + hours * SLOTS_AN_HOUR,
    modes: provider,
  });
  const rpc = await serveRpc({
    ...{ ledger: chain, host, port: ports.rpc },
    manners: mannersNamed(options.rpcManners),
  });
  const { mint, keypair } = residentOf(seed);
  const keyFile = dir === null ? null : writeKeyFile(dir, keypair.secretKey);
  const devnet = {
    geyser: `${host}:${geyser.port}`,
    rpc: rpc.url,
    ...venues.remote,
    catalogue: venues.catalogueUrl,
    price: venues.priceUrl,
    metadata: venues.metadataUrl,
    programId: chain.programId,
    seed: chain.seed,
    agent: { mint, address: keypair.key, keyFile },
    speaker: policies > SPEAKER ? launchMint(seed, SPEAKER) : null,
    slot: String(chain.tip().slot),
  };
  process.stdout.write(`${JSON.stringify({ devnet })}\n`);
  if (past !== null && chain.tip().slot < pastEnd(chain, past, Date.now())) {
    await Promise.race([geyser.followed, aborted(signal)]);
    // A parent process reports the progress itself.
    const tell = options.parentPid === null ? told('hour', hours) : () => {};
    await livePast(chain, life, past, signal, (slot) => tell(slot / BigInt(SLOTS_AN_HOUR)));
  }
  const { api, publicUrl } = options;
  const posting =
    api === null || publicUrl === null
      ? null
      : letAgentsPost({ chain, policies, api, publicUrl, optionsVenue: venues.remote.options, signal });
  await keepProducing(chain, life, options.slotMs, signal);
  await posting;
  await Promise.all([geyser.close(), rpc.close(), venues.close()]);
  chain.close();
}

const told = (what: string, all: number) => (reached: bigint) =>
  void process.stderr.write(`devnet: past lived up to ${what} ${reached} of ${all}\n`);

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), Date.now());
  if (options === null) {
    process.stdout.write(HELP);
    return;
  }
  // Progress is written even where nobody reads stderr any more: that must not end the process.
  process.stderr.on('error', () => {});
  const stop = new AbortController();
  const end = () => stop.abort();
  // `on`, not `once`: a signal to the whole process group comes again from the parent.
  process.on('SIGTERM', end);
  // A terminal's Ctrl-C reaches the parent too, which ends this process once it no longer needs it.
  process.on('SIGINT', options.parentPid === null ? end : () => {});
  const unwatch = watchParent(options.parentPid, end);
  await run(options, stop.signal);
  unwatch();
}

/** The message of a failed start; it names the flag that mends it where there is one. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `${error.message}: stop what listens there, or take others with --port-base`;
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return `${error.message}: --host must be an address of this machine`;
  return syscall !== undefined && path !== undefined
    ? `--dir cannot be used: ${error.message}`
    : error.message;
}

main().then(
  // `exit` is needed: the IPC channel of a live parent would keep the process running.
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`devnet: ${sentenceOf(error)}\n`);
    process.exit(1);
  },
);
