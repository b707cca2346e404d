import type { Config } from '../../../runtime/config/config.ts';
import {
  CERTIFICATE_EXPIRED,
  CERTIFICATE_OF_ANOTHER,
  NO_TLS,
  UNTRUSTED,
  upstreamWords,
} from '../../../runtime/outside/upstream.ts';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import { chainVerdict, type SlotTime, type Verdict } from '../../../runtime/rpc/same-chain.ts';
import { HistoryUnavailableError } from '../../history/gap.ts';
import { signaturePages } from '../../history/signature-pages.ts';
import type { Finding } from './finding.ts';
import { checkRpcBehaviour } from './rpc-behaviour.ts';
import { checkList } from './rpc-list.ts';

/** The list of a program that has more pages is not read to its end. */
const MOST_PAGES = 20;

/**
 * Whether a node has what is read from it, then a line for each of its habits that costs something.
 * @param heard a slot of the stream, null where none came
 * @throws RpcError, Error with what is to be done
 */
export async function checkRpc(
  url: string,
  config: Config,
  signal: AbortSignal,
  heard: Promise<SlotTime | null>,
): Promise<Finding[]> {
  const behaviour = await checkRpcBehaviour(url, config, signal);
  if (behaviour.isBusy) return behaviour.findings;
  await mustBeOfChain(url, config, await Promise.race([heard, aborted(signal).then(() => null)]));
  const lacking = await checkList(url, config);
  return [await reach(url, config, signal), ...behaviour.findings, ...(lacking === null ? [] : [lacking])];
}

async function mustBeOfChain(url: string, { commitment }: Config, place: SlotTime | null): Promise<void> {
  if (place === null) return;
  const rpc = createRpc(url, { commitment, timeoutMs: 3_000 });
  const verdict = await chainVerdict(rpc, place).catch((): Verdict => 'unknown');
  if (verdict !== 'other' && verdict !== 'behind') return;
  const what =
    verdict === 'other'
      ? 'is of another chain than YELLOWSTONE_ENDPOINT'
      : `is far behind slot ${place.slot} of YELLOWSTONE_ENDPOINT, or of another chain`;
  throw new Error(`${what}: nothing is read of it; name a node of the chain that is streamed`);
}

async function reach(
  url: string,
  { programId, commitment, programStartSlot }: Config,
  signal: AbortSignal,
): Promise<Finding> {
  const rpc = createRpc(url, { commitment, timeoutMs: 10_000 });
  const [slot, kept] = await Promise.all([rpc.getSlot(), rpc.getFirstAvailableBlock()]).catch(unheard);
  const { account } = await rpc.getAccountInfo(programId);
  if (account === null) throw new Error(`no program ${programId} on its chain (PROGRAM_ID)`);
  const found = `at slot ${slot}, history from slot ${kept}, has the program`;
  const { oldest, isWhole } = await listedOf(rpc, programId, kept, signal);
  const keepsAll = kept <= 1n;
  if (!keepsAll && kept > programStartSlot) {
    const listed = !isWhole
      ? 'the oldest listed here was not found out'
      : oldest === null
        ? 'none is listed here'
        : `the oldest listed here is in ${oldest}`;
    const advice = `name an archive node beside it, or, if the program's first transaction is later, set PROGRAM_START_SLOT to its slot (${listed})`;
    return {
      mark: 'failed',
      text: `${found}: history before slot ${kept} is not to be had here; ${advice}`,
    };
  }
  if (isWhole && oldest === null && programStartSlot > 0n) {
    const what = `it lists no transaction of it, and PROGRAM_START_SLOT has one in slot ${programStartSlot}`;
    const advice = 'have it index transactions by address, or name another node in its place';
    return { mark: 'failed', text: `${found}: ${what}: history is read as if there were none; ${advice}` };
  }
  // A node that keeps only its last blocks lists no older transactions: the oldest that it lists is not the first one.
  const wantsFirst = keepsAll && programStartSlot === 0n;
  return { mark: 'ok', text: `${found}${toldOf({ oldest, isWhole }, wantsFirst)}` };
}

/** What the line of a sound node says of its list. */
function toldOf({ oldest, isWhole }: Listed, wantsFirst: boolean): string {
  if (isWhole && oldest === null) return '; it lists no transaction of it';
  if (!isWhole && (wantsFirst || oldest === null))
    return '; how far back it lists transactions of it was not found out';
  return wantsFirst ? `; its first transaction is in slot ${oldest}: PROGRAM_START_SLOT=${oldest}` : '';
}

const ASK_ALL = 'is its address right, the key in it too, and does the node run?';
const ADVICE: Partial<Record<string, string>> = {
  [CERTIFICATE_EXPIRED]: 'have who runs it renew it, or name another node',
  [CERTIFICATE_OF_ANOTHER]: 'name the host that its certificate is for',
  [UNTRUSTED]: 'have NODE_EXTRA_CA_CERTS name who signed it where that is your own',
  [NO_TLS]: 'is its port right, and https:// only where it wants TLS?',
};

function unheard(error: unknown): never {
  if (!(error instanceof RpcError) || error.kind !== 'unreachable') throw error;
  const moved = /HTTP 30[1278]\b/.test(error.message);
  const advice = moved ? 'it sends to another address; name that one' : ADVICE[upstreamWords(error)];
  throw new Error(`${error.message}: ${advice ?? ASK_ALL}`, { cause: error });
}

/** What a node lists of the program, as far as that was found out. */
interface Listed {
  /** Slot of the oldest transaction that came. */
  oldest: bigint | null;
  /** Whether there is no older one. */
  isWhole: boolean;
}

/**
 * Lists the program's transactions. The end of the list is believed on the same terms as where history is read: of
 * several nodes behind an address, one that does not know a place of the list answers that nothing follows.
 */
async function listedOf(rpc: Rpc, address: string, kept: bigint, signal: AbortSignal): Promise<Listed> {
  let oldest: bigint | null = null;
  let read = 0;
  const pages = signaturePages({ rpc, address, before: null, minContextSlot: 0n, downTo: kept, signal });
  try {
    for await (const { signatures, isLast } of pages) {
      oldest = signatures.at(-1)?.slot ?? oldest;
      if (isLast) return { oldest, isWhole: true };
      read += 1;
      if (read === MOST_PAGES) break;
    }
  } catch (error) {
    if (!(error instanceof HistoryUnavailableError)) throw error;
  }
  return { oldest, isWhole: false };
}
