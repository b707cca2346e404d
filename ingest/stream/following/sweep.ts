import { chunks } from '../../../runtime/chunks.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { inParallel } from '../../../runtime/parallel.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { retryUntilDone } from '../../../runtime/retry.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_READ } from '../../history/accounts/account-parts.ts';
import type { AccountReader } from '../../history/accounts/account-reader.ts';
import { createPatientRead } from '../../history/accounts/patient-read.ts';
import { behindStream, newestSlot } from './behind-stream.ts';
import { lacksOf } from './list-lacks.ts';
import { createListProof, type ListProofOptions, type ListStatus } from './list-proof.ts';

const READS_AT_ONCE = 4;
const RECORDS_AT_ONCE = 1_000;
/** What was listed is compared so often, and a node that refuses to list the program's accounts asked again. */
const COMPARE_MS = 60_000;
/** A list that lacked some is asked for so many times as rarely: it is long. */
const PART_RESTS = 10;

export interface SweeperOptions extends Pick<ListProofOptions, 'named' | 'isKnown' | 'isHistoryRead'> {
  reader: AccountReader;
  programId: Uint8Array;
  /** Addresses that are followed now, but for mints. */
  addresses(): string[];
  mints(): string[];
  /** The slot up to which the stream has brought everything; null before one. */
  brought(): bigint | null;
  /** What the list of the program's accounts was, each time that they were asked for. */
  onListed(listed: ListStatus): void;
  compareMs?: number;
  /** Called with every state that was read, before it is sent. */
  learn(records: readonly AccountRecord[]): void;
  send(records: readonly LogRecord[]): Promise<void>;
  logger: Logger;
  signal: AbortSignal;
}

export interface Sweeper {
  /** Reads these at that slot or later and sends what stands there. Tries until done or the signal is given. */
  read(addresses: readonly string[], notBefore: bigint): Promise<void>;
  /**
   * Has everything read at that slot or later: the program's accounts, then the followed addresses that are none of
   * them: a known account that is gone becomes a closed state, and one that is there was left out of the list. One
   * sweep at a time; a request meanwhile is another sweep after it.
   */
  request(notBefore: bigint): void;
}

export function createSweeper(options: SweeperOptions): Sweeper {
  const { reader, programId, learn, send, logger, signal } = options;
  const patientRead = createPatientRead(reader.read, options);
  const readMints = createPatientRead(
    (addresses, notBefore) => reader.readOfStrangers(addresses, notBefore, 'mint'),
    options,
  );
  let wanted: bigint | null = null;
  let running = false;
  /** What the last list was; null before one. */
  let listed: ListStatus | null = null;
  /** It is to be compared once more. */
  let isDue = false;

  const sendBehind = async (records: readonly AccountRecord[]) => {
    await behindStream(newestSlot(records), options.brought, signal);
    await send(records);
  };

  /** Answers how many of the program's accounts are among them. */
  const readBy = async (by: typeof patientRead, addresses: readonly string[], notBefore: bigint) => {
    let owned = 0;
    await inParallel(chunks(addresses, ADDRESSES_PER_READ), READS_AT_ONCE, async (some) => {
      const records = await by(some, notBefore);
      if (records === null) return;
      owned += records.filter(isOwned).length;
      learn(records);
      await sendBehind(records);
    });
    return owned;
  };
  const isOwned = ({ owner, lamports }: AccountRecord) =>
    lamports > 0n && Buffer.compare(owner, programId) === 0;

  /** Null where nobody lists them. */
  const list = async (notBefore: bigint): Promise<AccountRecord[] | null> => {
    try {
      return await reader.readProgram(encodeBase58(programId), notBefore);
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== 'refused') throw error;
      logger.error({ error: error.message }, 'no node lists the accounts of the program');
      return null;
    }
  };

  const tell = (now: ListStatus) => {
    listed = now;
    options.onListed(now);
  };

  const sweep = async (least: bigint) => {
    // Addresses that come up on the way are newcomers, and read when the filter has them.
    const known = options.addresses();
    // Whatever the stream has brought is in a list of this slot.
    const brought = options.brought() ?? 0n;
    const notBefore = brought > least ? brought : least;
    const answer = await retryUntilDone(
      'reading the accounts of the program',
      async () => ({ owned: await list(notBefore) }),
      options,
    );
    if (answer === null) return;
    const { owned } = answer;
    if (owned === null) tell('refused');
    const lacks = lacksOf(programId, owned ?? []);
    learn(owned ?? []);
    for (const some of chunks(owned ?? [], RECORDS_AT_ONCE)) await sendBehind(some);
    const found = new Set(owned?.map(({ address }) => encodeBase58(address)));
    const others = [...new Set([...known, ...lacks.named])].filter((one) => !found.has(one));
    const left = await readBy(patientRead, others, notBefore);
    if (owned !== null) judge(left, lacks.short);
    await readBy(readMints, options.mints(), notBefore);
  };

  /** @param left accounts that are there and not in the list. @param short policies whose venue accounts are not. */
  const judge = (left: number, short: number) => {
    if (signal.aborted) return;
    const isWhole = left === 0 && short === 0;
    if (!isWhole)
      logger.error(
        { accounts: left, policies: short },
        "a list of the program's accounts lacks some that are there",
      );
    tell(isWhole ? 'unproved' : 'part');
  };

  const compare = createListProof({
    ...options,
    read: (addresses) => readBy(patientRead, addresses, options.brought() ?? 0n),
    listAgain: () => request(options.brought() ?? 0n),
    onProved: () => tell('proved'),
  });

  const run = async () => {
    running = true;
    while ((wanted !== null || isDue) && !signal.aborted) {
      isDue = false;
      const notBefore = wanted;
      wanted = null;
      if (notBefore !== null) await sweep(notBefore);
      if (listed === null) continue;
      await compare(listed).catch((error) =>
        logger.warn({ error: messageOf(error) }, 'the listed accounts are compared with history later'),
      );
    }
    running = false;
  };
  const start = () => {
    if (!running && !signal.aborted) void run();
  };

  const request = (notBefore: bigint) => {
    wanted = wanted === null || notBefore > wanted ? notBefore : wanted;
    start();
  };

  const again = async () => {
    for (let rests = 1; !signal.aborted; rests += 1) {
      await pause(options.compareMs ?? COMPARE_MS, signal);
      isDue = listed !== null;
      if (listed === 'refused' || (listed === 'part' && rests % PART_RESTS === 0)) request(0n);
      else if (isDue) start();
    }
  };
  void again();

  return {
    read: async (addresses, notBefore) => {
      await readBy(patientRead, addresses, notBefore);
    },
    request,
  };
}
