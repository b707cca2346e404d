import {
  type CarriedAddresses,
  createCarriedAddresses,
} from '../../../../ingest/stream/followed-stream/carried.ts';
import type { AccountRecord, LogRecord } from '../../../../schemas/records.ts';
import { decodeKey } from '../../../../schemas/solana/base58.ts';
import { tokenBytes } from './accounts.ts';
import { account, key } from './records.ts';
import { uncarriedOf } from './uncarried-of.ts';

const TOKEN = decodeKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA') as Uint8Array;
export const FIRST_HOUR = 497_300;
/** A slot takes six minutes: ten of them are an hour. */
const SLOT_S = 360;
export const HOUR_SLOTS = 10;
export const HOURS = 12;
const SLOTS = HOURS * HOUR_SLOTS;
/** So many slots after a stream begins to carry an account, it has been read and the log says so. */
const SETTLED_SLOTS = 8;

/** `asked`: a request names the account, and is applied from a slot on. */
type Phase = { is: 'stream' } | { is: 'rota' } | { is: 'asked'; from: number };

interface One {
  name: string;
  address: string;
  born: number;
  /** Its amount at the end of each slot; undefined before it existed. */
  amounts: (number | undefined)[];
  written: Set<number>;
  phase: Phase;
  told: number | null;
  /** Slot from which on it is wholly streamed and known, and the log says so; null where it is not. */
  since: number | null;
  /** Ends of hours at which its state must be known. */
  sure: Set<number>;
}

export interface CarriedStory {
  log: LogRecord[];
  accounts: Pick<One, 'name' | 'address' | 'sure'>[];
  /** An account's amount at the end of `end` hours. */
  truth(address: string, end: number): number | undefined;
}

const timeAt = (slot: number) => FIRST_HOUR * 3_600 + slot * SLOT_S;

/**
 * The log of processes that end anywhere and go on from the last marker, with a provider that carries some addresses,
 * loses them and carries them again. At times a process learns late which losses the log has. Beside it stands what the
 * chain had.
 */
export function carriedStory(random: () => number, count: number): CarriedStory {
  const pick = (below: number) => Math.floor(random() * below);
  const log: LogRecord[] = [];
  const due = new Map<number, (() => void)[]>();
  const later = (slot: number, act: () => void) => due.set(slot, [...(due.get(slot) ?? []), act]);
  const accounts = Array.from({ length: count }, (_, at) => storyOf(`${at} of ${random()}`, pick));
  const byAddress = new Map(accounts.map((one) => [one.address, one]));
  let now = 0;

  const put = (record: LogRecord) => void log.push(record);
  const state = (one: One, slot: number, source: AccountRecord['source']) => {
    const amount = one.amounts[slot];
    if (amount === undefined) return;
    const record = account(one.name, TOKEN, tokenBytes(BigInt(amount)), {
      ...{ source, slot: BigInt(slot), blockTime: timeAt(slot), expected: 'token_account' },
      ...(source === 'rpc' ? { writeVersion: (1n << 64n) - 1n, signature: null } : {}),
    });
    carried.stateLogged(record);
    one.told = amount;
    put(record);
  };
  /** Reads accounts at that slot or later, and logs them behind what the stream brought up to that slot. */
  const read = (addresses: readonly string[], notBefore: bigint) => {
    for (const address of addresses) {
      const slot = Math.max(Number(notBefore), now) + pick(3);
      later(slot, () => state(byAddress.get(address) as One, slot, 'rpc'));
    }
  };
  const streamed = () => accounts.filter(({ phase }) => phase.is === 'stream').map(({ address }) => address);
  const begin = (): CarriedAddresses => {
    const known = uncarriedOf(log);
    // The store knows all losses that the log holds, or none of them yet.
    const isLate = pick(2) === 0;
    const created = createCarriedAddresses({
      ...{ lost: isLate ? [] : known, expectedAt: () => 'token_account' },
      timeOf: (slot) => (slot > 0n ? timeAt(Number(slot)) : null),
      send: (records) => records.forEach(put),
      reread: read,
    });
    if (isLate) later(now + 1 + pick(3), () => created.addEarlierLosses(uncarriedOf(log)));
    return created;
  };
  let carried = begin();
  const lose = (one: One, after: number) => {
    one.phase = { is: 'rota' };
    one.since = null;
    carried.lost([one.address], BigInt(after));
  };
  const ask = (one: One, from: number) => {
    one.phase = { is: 'asked', from };
    one.since = null;
    carried.leftRota([one.address]);
  };
  /** A process ends, and another goes on from a marker: what a stream carries is replayed from there. */
  const restart = (position: number) => {
    const wereOpen = new Set(uncarriedOf(log).map(({ address }) => address));
    due.clear();
    carried = begin();
    for (const one of accounts.filter(({ born }) => born <= now)) {
      if (one.phase.is === 'asked' || pick(2) === 0) lose(one, position);
      else {
        const isWhole = one.since !== null && one.since <= now && !wereOpen.has(one.address);
        one.phase = { is: 'stream' };
        for (let slot = position + 1; slot <= now; slot += 1)
          if (one.written.has(slot)) state(one, slot, 'stream');
        if (!isWhole) one.since = now + 2 * SETTLED_SLOTS;
      }
      // All are read at the start.
      read([one.address], BigInt(position));
    }
  };

  for (now = 1; now < SLOTS; now += 1) {
    const slot = now;
    for (const one of accounts) {
      if (one.born > slot) continue;
      if (one.born === slot) {
        carried.added([one.address]);
        one.phase = { is: 'asked', from: slot + 1 + pick(3) };
        if (pick(3) === 0) later(slot, () => state(one, slot, 'rpc'));
      } else if (one.phase.is === 'stream' && pick(25) === 0) lose(one, slot - 1);
      else if (one.phase.is === 'rota' && pick(12) === 0) ask(one, slot + pick(3));
      if (one.phase.is === 'asked' && one.phase.from === slot) {
        // Its filter is applied somewhere within this slot.
        if (one.written.has(slot) && pick(2) === 0) state(one, slot, 'stream');
        one.phase = { is: 'stream' };
        one.since = slot + SETTLED_SLOTS;
        carried.readOverRpc([one.address], BigInt(slot));
        read([one.address], BigInt(slot));
      } else if (one.phase.is === 'stream' && one.written.has(slot)) state(one, slot, 'stream');
    }
    carried.requestAtWork(BigInt(slot), streamed);
    put({ kind: 'marker', slot: BigInt(slot), parent: BigInt(slot) - 1n, blockTime: timeAt(slot) });
    carried.markerLogged(BigInt(slot));
    for (const act of due.get(slot) ?? []) act();
    // At times a marker is not in every partition: nothing stands behind it, and the next process starts before it.
    const isWhole = log.at(-1)?.kind !== 'marker' || pick(20) > 0;
    for (const one of isWhole ? accounts : []) {
      if (one.phase.is === 'rota' && pick(3) === 0 && one.amounts[slot] !== one.told) state(one, slot, 'rpc');
      if ((slot + 1) % HOUR_SLOTS === 0 && slot + 1 < SLOTS && one.since !== null && one.since <= slot)
        one.sure.add((slot + 1) / HOUR_SLOTS);
    }
    if (!isWhole) restart(slot - 1);
    else if (pick(30) === 0) restart(slot);
  }
  return {
    log,
    accounts,
    truth: (address, end) => byAddress.get(address)?.amounts[end * HOUR_SLOTS - 1],
  };
}

function storyOf(name: string, pick: (below: number) => number): One {
  const born = 1 + pick(20);
  const amounts: One['amounts'] = [];
  const written = new Set<number>();
  for (let slot = born; slot < SLOTS; slot += 1) {
    const before = amounts[slot - 1];
    if (before === undefined || pick(4) === 0) written.add(slot);
    // Amounts return to earlier values: one that is read twice alike may have changed in between.
    amounts[slot] = written.has(slot) ? pick(3) : before;
  }
  const phase: Phase = { is: 'rota' };
  return {
    ...{ name, address: key(name), born, amounts, written, phase },
    told: null,
    since: null,
    sure: new Set(),
  };
}
