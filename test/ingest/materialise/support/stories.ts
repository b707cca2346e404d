import type { AccountRecord, LogRecord, TimeRecord } from '../../../../schemas/records.ts';
import { decodeKey } from '../../../../schemas/solana/base58.ts';
import { poolAddress } from '../../../../schemas/solana/pda.ts';
import { kitEncode } from '../../../schemas/support/kit-codecs.ts';
import { policyBytes } from './accounts.ts';
import { account, PROGRAM, rawKey } from './records.ts';

const TOKEN = decodeKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA') as Uint8Array;
const LAUNCHPAD = rawKey('launchpad');
const SYSTEM = new Uint8Array(32);
const OF_READING = (1n << 64n) - 1n;
const START = 497_300 * 3_600;
/** A slot takes ten minutes. */
const SLOT_S = 600;

type Bytes = Pick<AccountRecord, 'owner' | 'data' | 'expected'>;

/** An account's state with an amount; `noise` changes bytes that are not stored. */
type Kind = (name: string, amount: number, noise: number) => Bytes & Partial<AccountRecord>;

const token = (amount: number, noise: number): Uint8Array => {
  const data = Buffer.alloc(165);
  data.writeBigUInt64LE(BigInt(amount), 64);
  data.writeUInt8(noise, 76);
  data[108] = 1;
  return data;
};
const mint = (amount: number): Uint8Array => {
  const data = Buffer.alloc(82);
  data.writeBigUInt64LE(BigInt(amount), 36);
  data[45] = 1;
  return data;
};
const ours = (data: Uint8Array): Bytes => ({ owner: PROGRAM, data, expected: 'program' });

const KINDS: Kind[] = [
  (_, amount, noise) => ({ owner: TOKEN, data: token(amount, noise), expected: 'token_account' }),
  (_, amount) => ours(policyBytes({ feesClaimed: BigInt(amount), hwm: BigInt(amount) })),
  (_, amount) => ours(kitEncode('Origin', { id: amount, name: 'o', assetClassMask: 1, maxRisk: 1, bump: 1 })),
  // An address where a mint is closed and a token account made, or the reverse.
  (_, amount, noise) =>
    amount === 0
      ? { owner: TOKEN, data: mint(amount), expected: 'mint' }
      : { owner: TOKEN, data: token(amount, noise), expected: 'mint' },
  (name, amount, noise) => {
    const data = Buffer.alloc(429);
    data.set(Buffer.from('f7ede3f5d7c3de46', 'hex'));
    data.set(rawKey(name), 205);
    data.writeUInt8(amount, 17);
    data.writeUInt8(noise, 420);
    const address = poolAddress(LAUNCHPAD, data.subarray(205, 237), data.subarray(237, 269));
    return { owner: LAUNCHPAD, data, expected: 'pool', address };
  },
];

const nothing = { owner: SYSTEM, data: new Uint8Array(0), lamports: 0n };
const timeAt = (slot: number): number => START + slot * SLOT_S;

/**
 * A log of account states. The stream brings some of the chain's states, at times late or twice. Readings bring what
 * was there, at times behind what the stream brought meanwhile. Some states have no time, which is told later.
 */
export function logOfStories(random: () => number, accounts: number, slots: number): LogRecord[] {
  const pick = (below: number) => Math.floor(random() * below);
  const due = new Map<number, LogRecord[]>();
  const later = (slot: number, record: LogRecord) => due.set(slot, [...(due.get(slot) ?? []), record]);
  const stories = Array.from({ length: accounts }, (_, at) => ({
    name: `${at} of ${random()}`,
    kind: KINDS[at % KINDS.length] as Kind,
    ...{ amount: 0, noise: 0, exists: true },
  }));
  const records: LogRecord[] = [];
  for (let slot = 1; slot <= slots; slot += 1) {
    for (const story of stories) {
      const isFirst = slot === 1;
      let isWritten = isFirst;
      const told = (change: Partial<AccountRecord>): AccountRecord => {
        const { name, kind, amount, noise, exists } = story;
        const { owner, data, ...rest } = kind(name, amount, noise);
        const time = { slot: BigInt(slot), blockTime: pick(5) === 0 ? null : timeAt(slot) };
        return account(name, owner, data, { ...rest, ...time, ...change, ...(exists ? {} : nothing) });
      };
      for (let write = 1n; write <= 2n; write += 1n) {
        if (!isFirst && pick(5) > 0) continue;
        isWritten = true;
        story.amount = pick(3);
        story.noise = pick(2);
        story.exists = isFirst || pick(8) > 0;
        if (!isFirst && pick(5) === 0) continue;
        // The first that a stream brings of an address is no more than a reading at times.
        const source = pick(8) === 0 ? 'rpc' : 'stream';
        later(slot + (isFirst || pick(5) > 0 ? 0 : 1 + pick(6)), told({ source, writeVersion: write }));
      }
      if (pick(4) === 0) later(slot + pick(4), told({ source: 'rpc', writeVersion: OF_READING }));
      if (pick(20) === 0) {
        const { address, slot, blockTime } = told({});
        later(slot === 1n ? 1 : Number(slot) + pick(4), {
          ...{ kind: 'carried', address, slot, blockTime, carried: pick(2) === 0 },
        });
      }
      if (isWritten || pick(3) === 0) {
        const { address } = told({});
        const time: TimeRecord = { kind: 'time', address, slot: BigInt(slot), blockTime: timeAt(slot) };
        // A time is asked for only once the state without one is stored.
        later(slot + 9 + pick(9), time);
      }
    }
    records.push(...(due.get(slot) ?? []));
    due.delete(slot);
    if (pick(4) === 0) records.push(...records.slice(-pick(3 * accounts)));
    if (pick(4) > 0)
      records.push({
        ...{ kind: 'marker', slot: BigInt(slot), parent: BigInt(slot) - 1n, blockTime: timeAt(slot) },
      });
  }
  const rest = [...due].toSorted(([a], [b]) => a - b);
  return [...records, ...rest.flatMap(([, some]) => some)];
}
