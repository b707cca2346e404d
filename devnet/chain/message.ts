import { bytesOf, seededKey } from '../program/state/keys.ts';
import type { Random } from '../program/state/random.ts';
import type { Key } from '../program/state/state.ts';
import { children, type Frame } from './frames.ts';
import type {
  CompiledInstruction,
  InnerInstruction,
  LedgerTransaction,
  TransactionMessage,
} from './ledger.ts';

type Compiled = Pick<LedgerTransaction, 'message' | 'loaded' | 'inner'> & {
  /** All keys, in the order of their indexes: the message's own, then those behind a lookup table. */
  keys: readonly Key[];
  /** Keys that the message lets be written to. */
  writable: ReadonlySet<Key>;
};

interface Access {
  signer: boolean;
  writable: boolean;
  invoked: boolean;
}

/** What the message allows with each key: the union over the top-level instructions, the payer first. */
function accessOf(frames: readonly Frame[], payer: Key): Map<Key, Access> {
  const keys = new Map<Key, Access>([[payer, { signer: true, writable: true, invoked: false }]]);
  const note = (key: Key, signer: boolean, writable: boolean, invoked: boolean) => {
    const known = keys.get(key);
    keys.set(key, {
      signer: signer || known?.signer === true,
      writable: writable || known?.writable === true,
      invoked: invoked || known?.invoked === true,
    });
  };
  for (const frame of frames) {
    for (const meta of frame.metas) note(meta.key, meta.signer, meta.writable, false);
    note(frame.program, false, false, true);
  }
  return keys;
}

const LOOKUP_TABLES = 4;

/**
 * Compiles frames into a message: legacy, or version 0 with some keys behind a lookup table. Signers and programs
 * that are invoked at the top always stand in the message itself.
 */
export function compileMessage(
  frames: readonly Frame[],
  payer: Key,
  blockhash: Uint8Array,
  random: Random,
): Compiled {
  const access = accessOf(frames, payer);
  const versioned = random.chance(0.4);
  const groups: Record<'sw' | 'sr' | 'w' | 'r' | 'lw' | 'lr', Key[]> = {
    sw: [],
    sr: [],
    w: [],
    r: [],
    lw: [],
    lr: [],
  };
  for (const [key, { signer, writable, invoked }] of access) {
    if (signer) groups[writable ? 'sw' : 'sr'].push(key);
    else if (versioned && !invoked && random.chance(0.5)) groups[writable ? 'lw' : 'lr'].push(key);
    else groups[writable ? 'w' : 'r'].push(key);
  }
  const accountKeys = [...groups.sw, ...groups.sr, ...groups.w, ...groups.r];
  const keys = [...accountKeys, ...groups.lw, ...groups.lr];
  const index = new Map(keys.map((key, at) => [key, at]));
  const at = (key: Key): number => {
    const found = index.get(key);
    if (found === undefined) throw new RangeError(`${key} is not in the message`);
    return found;
  };
  const compile = (frame: Frame): CompiledInstruction => ({
    programIdIndex: at(frame.program),
    accounts: frame.metas.map((meta) => at(meta.key)),
    data: frame.data,
  });
  const flatten = (frame: Frame, stackHeight: number): InnerInstruction[] =>
    children(frame).flatMap((child) => [
      { ...compile(child), stackHeight },
      ...flatten(child, stackHeight + 1),
    ]);
  const message: TransactionMessage = {
    accountKeys: accountKeys.map(bytesOf),
    header: {
      numRequiredSignatures: groups.sw.length + groups.sr.length,
      numReadonlySigned: groups.sr.length,
      numReadonlyUnsigned: groups.r.length,
    },
    recentBlockhash: blockhash,
    instructions: frames.map(compile),
  };
  if (versioned) {
    const table = bytesOf(seededKey(`lookup-table:${random.int(1, LOOKUP_TABLES)}`));
    const first = random.int(0, 40);
    const numbers = (keys: Key[], from: number) => keys.map((_, offset) => from + offset * 2);
    const used = groups.lw.length + groups.lr.length > 0;
    message.lookups = used
      ? [{ table, writable: numbers(groups.lw, first), readonly: numbers(groups.lr, first + 1) }]
      : [];
  }
  return {
    message,
    keys,
    loaded: { writable: groups.lw.map(bytesOf), readonly: groups.lr.map(bytesOf) },
    inner: frames
      .map((frame, position) => ({ index: position, instructions: flatten(frame, 2) }))
      .filter((entry) => entry.instructions.length > 0),
    writable: new Set([...access].filter(([, entry]) => entry.writable).map(([key]) => key)),
  };
}
