import { chunks } from '../../../runtime/chunks.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { inParallel } from '../../../runtime/parallel.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_READ } from '../../accounts/account-parts.ts';
import type { AccountReader } from '../../accounts/account-reader.ts';
import { createPatientList } from '../../accounts/patient-list.ts';
import { addressesWithoutRecord, createPatientRead } from '../../accounts/patient-read.ts';
import { createJoinedReading } from './joined-reading.ts';
import { createLeftOut } from './left-out.ts';
import { belongsInList, type ListLacks, lacksOf } from './list-lacks.ts';
import { createListProof, type ListProofOptions, type ListStatus, type ReadBeside } from './list-proof.ts';
import { newestSlot, waitForStream } from './wait-for-stream.ts';

const READS_AT_ONCE = 4;
const RECORDS_AT_ONCE = 1_000;
/**
 * How often the listed accounts are compared with history, and nodes that refuse to list the program's accounts, or to
 * read some, are asked again.
 */
const COMPARE_MS = 60_000;
/**
 * A list that lacked accounts, or was waited for in vain, is asked for again once after that time, then only every
 * tenth time: it is long.
 */
const PART_RESTS = 10;

export interface SweeperOptions extends Pick<ListProofOptions, 'named' | 'isKnown' | 'isHistoryRead'> {
  reader: AccountReader;
  programId: Uint8Array;
  /** Addresses that are followed now, but for mints. */
  addresses(): string[];
  mints(): string[];
  /** The slot up to which the stream has brought everything; null before one. */
  brought(): bigint | null;
  /** Told what became of listing the program's accounts, each time that they were asked for. */
  onListed(listed: ListStatus): void;
  compareMs?: number;
  /** Called with every state that was read, before it is sent. */
  learn(records: readonly AccountRecord[]): void;
  send(records: readonly LogRecord[]): Promise<void>;
  logger: Logger;
  signal: AbortSignal;
}

export interface Sweeper {
  /**
   * Reads these at that slot or later and sends what stands there. Tries until done or the signal aborts; an address
   * that cannot be read by itself is asked for again later.
   */
  read(addresses: readonly string[], notBefore: bigint): Promise<void>;
  /** Likewise for addresses that may be many and asked for again and again: one such reading at a time. */
  reread(addresses: readonly string[], notBefore: bigint): void;
  /**
   * Has everything read at that slot or later: the program's accounts, then the followed addresses that are not among
   * those. A known account that is gone becomes a closed state; one that exists shows that the list left it out. One
   * sweep at a time; a request meanwhile makes another sweep after it.
   */
  request(notBefore: bigint): void;
}

export function createSweeper(options: SweeperOptions): Sweeper {
  const { reader, programId, learn, send, logger, signal } = options;
  const isOwned = belongsInList(programId);
  const patientRead = createPatientRead(reader.read, options);
  const readMints = createPatientRead(
    (addresses, notBefore) => reader.readUntrusted(addresses, notBefore, 'mint'),
    options,
  );
  const everyMs = options.compareMs ?? COMPARE_MS;
  const list = createPatientList(reader, encodeBase58(programId), {
    ...{ signal, logger, patienceMs: everyMs / 2 },
  });
  let wanted: bigint | null = null;
  let running = false;
  /** What the last list was; null before one. */
  let listed: ListStatus | null = null;
  /** Whether the list is to be compared with history once more. */
  let isDue = false;
  /** Accounts of the last list that do not decode, so that nothing more is known of them. */
  let undecoded = new Set<string>();
  /** Accounts that may be of the program, are not in the last list, and could not be read beside it. */
  const inDoubt = new Set<string>();

  const sendBehind = async (records: readonly AccountRecord[]) => {
    await waitForStream(newestSlot(records), options.brought, signal);
    await send(records);
  };

  const readBy = async (
    by: typeof patientRead,
    addresses: readonly string[],
    notBefore: bigint,
  ): Promise<ReadBeside> => {
    const owned: string[] = [];
    const left: string[] = [];
    await inParallel(chunks(addresses, ADDRESSES_PER_READ), READS_AT_ONCE, async (some) => {
      const records = await by(some, notBefore);
      if (records === null) {
        left.push(...some);
        return;
      }
      owned.push(...records.filter(isOwned).map(({ address }) => encodeBase58(address)));
      left.push(...addressesWithoutRecord(some, records));
      learn(records);
      await sendBehind(records);
    });
    return { owned, left };
  };
  const read = async (addresses: readonly string[], notBefore: bigint): Promise<ReadBeside> => {
    const found = await readBy(patientRead, addresses, notBefore);
    again.asked(addresses, found.left, notBefore);
    const settled = addresses.filter((one) => inDoubt.has(one) && !found.left.includes(one));
    // One exists, so the list did lack it: the doubt stays until there is another list.
    if (settled.length > 0 && found.owned.length > 0) request(options.brought() ?? 0n);
    else for (const address of settled) inDoubt.delete(address);
    return found;
  };
  const again = createLeftOut({ read, everyMs, signal });

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
    const answer = await list(notBefore);
    if (answer === null) return;
    const owned = 'why' in answer ? null : answer;
    if ('why' in answer) tell(answer.why);
    const lacks = lacksOf(programId, owned ?? []);
    learn(owned ?? []);
    for (const some of chunks(owned ?? [], RECORDS_AT_ONCE)) await sendBehind(some);
    const found = new Set(owned?.map(({ address }) => encodeBase58(address)));
    undecoded = new Set([...found].filter((one) => !options.isKnown(one)));
    const others = [...new Set([...known, ...lacks.named])].filter((one) => !found.has(one));
    inDoubt.clear();
    const beside = await read(others, notBefore);
    if (owned !== null) judge(beside, lacks);
    await readBy(readMints, options.mints(), notBefore);
  };

  /** Tells whether the list is whole, by what was read that is not in it, and by what it lacks itself. */
  const judge = ({ owned, left }: ReadBeside, { named, short }: ListLacks) => {
    if (signal.aborted) return;
    for (const address of left) if (named.has(address) || options.isKnown(address)) inDoubt.add(address);
    const isWhole = owned.length === 0 && short === 0;
    if (isWhole) tell('unproved');
    else isPart({ accounts: owned.length, policies: short });
  };
  const isPart = (lacks: { accounts: number; policies: number }) => {
    logger.error(lacks, "a list of the program's accounts lacks some that are there");
    tell('part');
  };

  const compare = createListProof({
    ...options,
    isKnown: (address) => options.isKnown(address) || undecoded.has(address),
    read: (addresses) => read(addresses, options.brought() ?? 0n),
    isInDoubt: () => inDoubt.size > 0,
    listAgain: () => request(options.brought() ?? 0n),
    onLacking: (accounts) => isPart({ accounts, policies: 0 }),
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

  const compareAgain = async () => {
    let rests = 0;
    while (!signal.aborted) {
      await pause(everyMs, signal);
      isDue = listed !== null;
      const isLong = listed === 'part' || listed === 'silent';
      rests = isLong ? rests + 1 : 0;
      if (listed === 'refused' || rests % PART_RESTS === 1) request(0n);
      else if (isDue) start();
    }
  };
  void compareAgain();

  return {
    read: async (addresses, notBefore) => {
      await read(addresses, notBefore);
    },
    reread: createJoinedReading(read),
    request,
  };
}
