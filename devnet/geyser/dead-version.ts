import { eventKind } from '../../schemas/program/events.ts';
import { byteKey } from '../../schemas/solana/byte-key.ts';
import type { AccountWrite, Block, Ledger, LedgerTransaction } from '../chain/ledger.ts';
import { createRandom, type Random, seededBytes } from '../program/state/random.ts';

/** The version of a slot that died, and when it is sent: before the chain's, after it, or after its confirmation. */
export interface DeadVersion {
  block: Block;
  told: 'first' | 'last' | 'late';
}

const SHARE = 0.3;
const TOLD: readonly DeadVersion['told'][] = ['first', 'last', 'late'];
/** How many slots back earlier states of accounts are looked for. */
const LOOKED_BACK = 40n;
const MOST_WRITES = 4;

/**
 * The version of a slot that died before the chain's own; some slots have one, by the seed. It writes accounts that the
 * chain's version does not write, writes others differently, and has the same transactions with other events, failed,
 * or at other indexes. Every caller gets the same version of a slot.
 */
export function deadVersion(ledger: Ledger, block: Block, seed: string): DeadVersion | null {
  const random = createRandom(`dead:${seed}:${block.slot}`);
  if (block.slot === ledger.firstSlot || !random.chance(SHARE)) return null;
  return {
    told: random.pick(TOLD),
    block: {
      ...block,
      blockhash: seededBytes(`dead:${seed}:${block.slot}`, 32),
      writes: writesOf(ledger, block, random),
      transactions: block.transactions.map((tx) => (tx.ours ? otherwise(tx, random) : tx)),
    },
  };
}

/** States that accounts had before the block and no longer have at it. */
function writesOf(ledger: Ledger, block: Block, random: Random): AccountWrite[] {
  const current = new Map<string, AccountWrite>();
  const older: AccountWrite[] = [];
  const lowest = block.slot - LOOKED_BACK;
  for (let slot = block.slot; slot > lowest && slot > ledger.firstSlot; slot -= 1n) {
    for (const write of ledger.block(slot)?.writes ?? []) {
      const key = byteKey(write.address);
      const known = current.get(key);
      if (known === undefined) current.set(key, write);
      else if (Buffer.compare(known.data, write.data) !== 0) older.push(write);
    }
  }
  const picked = new Map<string, AccountWrite>();
  for (let more = 0; more < MOST_WRITES && older.length > 0; more += 1) {
    const write = random.pick(older);
    picked.set(byteKey(write.address), write);
  }
  return [...picked.values()];
}

const LOST = 0.1;

/** A block without some of the program's transactions and their last writes, as a server sends it that lost them. */
export function lossy(block: Block, seed: string): Block {
  const random = createRandom(`lost:${seed}:${block.slot}`);
  const lost = new Set(
    block.transactions.flatMap(({ ours, signature }) =>
      ours && random.chance(LOST) ? [byteKey(signature)] : [],
    ),
  );
  const isKept = ({ signature }: { signature: Uint8Array | null }) =>
    signature === null || !lost.has(byteKey(signature));
  return { ...block, transactions: block.transactions.filter(isKept), writes: block.writes.filter(isKept) };
}

const AMOUNTS = new Set([
  'FeesClaimed',
  'Routed',
  'ProfitSwept',
  'BuybackBurned',
  'BaseLegBurned',
  'CreditNoted',
]);
/** Offset of an event's first amount, behind the discriminator and the keys of policy, mint and quote asset. */
const FIRST_AMOUNT = 8 + 3 * 32;
const DATA = 'Program data: ';

function otherwise(tx: LedgerTransaction, random: Random): LedgerTransaction {
  const lot = random.next();
  if (lot < 0.2) return { ...tx, index: tx.index + 1 };
  if (lot < 0.4 && tx.failed === null)
    return { ...tx, failed: 'InsufficientFunds', failure: { instruction: 0, code: 1 } };
  const more = random.chance(0.5);
  const streamLogs = tx.streamLogs.flatMap((line) => {
    const other = otherAmount(line);
    return other === line ? [line] : more ? [other, other] : [other];
  });
  return { ...tx, streamLogs };
}

/** A log line with its event's amounts changed; lines of other events stay as they are. */
function otherAmount(line: string): string {
  if (!line.startsWith(DATA)) return line;
  const bytes = Buffer.from(line.slice(DATA.length), 'base64');
  if (bytes.length < FIRST_AMOUNT + 8 || !AMOUNTS.has(eventKind(bytes) ?? '')) return line;
  for (let at = FIRST_AMOUNT; at + 8 <= bytes.length; at += 8) bytes[at] = (bytes[at] as number) ^ 0x15;
  return DATA + bytes.toString('base64');
}
