import { codeOf } from '../program/errors.ts';
import type { Execution } from '../program/execute.ts';
import type { Instruction } from '../program/instruction-run.ts';
import type { Addresses } from '../program/state/addresses.ts';
import type { TypedEvent } from '../program/state/events.ts';
import { keyOf, seededKey } from '../program/state/keys.ts';
import { createRandom, type Random, seededBytes } from '../program/state/random.ts';
import type { Key } from '../program/state/state.ts';
import { children, drawStyle, type Frame, frameOf, handDown } from './frames.ts';
import type { LedgerTransaction } from './ledger.ts';
import { cutLines, type Failure, logLines } from './logs.ts';
import { compileMessage } from './message.ts';
import { lookAlikeFrame, mention, prelude, routed, withLaunchpadEvents } from './noise.ts';
import { type HeldTokens, tokenBalances } from './token-balances.ts';

/** How often logs are cut: on the stream only, and for good. */
export interface CutLogs {
  onStream: number;
  forGood: number;
}

export interface Builder {
  seed: string;
  programId: Key;
  addresses: Addresses;
  cutLogs: CutLogs;
}

const PAYERS = 24;

/** The signature of a place in the chain: made up, and always the same for a seed. */
export function signatureAt(seed: string, slot: bigint, index: number): Uint8Array {
  return seededBytes(`signature:${seed}:${slot}:${index}`, 64);
}

function eventsOf(instruction: Instruction, programId: Key): TypedEvent[] {
  return instruction.steps.flatMap((step) =>
    step.type === 'event' ? [step.event] : eventsOf(step.instruction, programId),
  );
}

/** Path of frames down to the last call of `program`, which is the one that failed. */
function pathTo(frames: readonly Frame[], program: Key, name: string): Frame[] {
  for (const frame of [...frames].reverse()) {
    if (frame.program === program && frame.body[0] === name) return [frame];
    const below = pathTo(children(frame), program, name);
    if (below.length > 0) return [frame, ...below];
  }
  return [];
}

/** Policies that a call of the program was given as writable. */
function policiesWritten(
  frames: readonly Frame[],
  writable: ReadonlySet<Key>,
  policies: readonly Key[],
  programId: Key,
): Key[] {
  const found = new Set<Key>();
  const walk = (frame: Frame) => {
    if (frame.program === programId) {
      for (const { key } of frame.metas) if (writable.has(key) && policies.includes(key)) found.add(key);
    }
    for (const child of children(frame)) walk(child);
  };
  for (const frame of frames) walk(frame);
  return [...found];
}

function calls(frames: readonly Frame[], program: Key): boolean {
  return frames.some((frame) => frame.program === program || calls(children(frame), program));
}

/** The frames of a transaction: what was executed, other programs that call it, and unrelated calls beside it. */
function dress(execution: Execution, builder: Builder, random: Random): Frame[] {
  const { programId, addresses } = builder;
  if (execution.instructions.length === 0) return [mention(programId, random, addresses)];
  // What comes after a failure never runs.
  const failed = execution.error !== null;
  const style = drawStyle(random);
  const own = execution.instructions.map((instruction) => {
    const frame = withLaunchpadEvents(frameOf(instruction, { programId, addresses, style, random }), random);
    const wrapped = instruction.program === programId && random.chance(0.3);
    return wrapped ? routed(frame, random, addresses, failed) : frame;
  });
  const before = random.chance(0.08) ? [lookAlikeFrame(random, addresses)] : [];
  const after = !failed && random.chance(0.08) ? [lookAlikeFrame(random, addresses)] : [];
  return [...prelude(random), ...before, ...own, ...after];
}

/** Writes an execution as the transaction that a node would have seen; the same place gives the same bytes. */
export function buildTransaction(
  execution: Execution,
  place: { slot: bigint; index: number; blockhash: Uint8Array; tokens: readonly HeldTokens[] },
  builder: Builder,
): LedgerTransaction {
  const random = createRandom(`transaction:${builder.seed}:${place.slot}:${place.index}`);
  const frames = dress(execution, builder, random).map(handDown);
  const payer = seededKey(`payer:${random.int(1, PAYERS)}`);
  const compiled = compileMessage(frames, payer, place.blockhash, random);
  const last = execution.instructions.at(-1);
  const failure: Failure | null =
    execution.error === null || last === undefined
      ? null
      : {
          error: execution.error,
          path: pathTo(frames, last.program, `Program log: Instruction: ${last.name}`),
        };
  const whole = logLines(frames, failure);
  const size = whole.reduce((sum, line) => sum + line.length, 0);
  const cutAt = random.int(Math.min(80, size), size);
  const lot = random.next();
  const forGood = lot < builder.cutLogs.forGood;
  const onStream = forGood || lot < builder.cutLogs.forGood + builder.cutLogs.onStream;
  const ours = calls(frames, builder.programId);
  return {
    signature: signatureAt(builder.seed, place.slot, place.index),
    index: place.index,
    failed: execution.error,
    failure:
      failure === null
        ? null
        : { instruction: frames.indexOf(failure.path[0] as Frame), code: codeOf(failure.error) },
    message: compiled.message,
    loaded: compiled.loaded,
    inner: compiled.inner,
    tokenBalances: tokenBalances(place.tokens, compiled.keys),
    logs: forGood && ours ? cutLines(whole, cutAt) : whole,
    streamLogs: onStream && ours ? cutLines(whole, cutAt) : whole,
    events:
      execution.error === null
        ? execution.instructions.flatMap((instruction) => eventsOf(instruction, builder.programId))
        : [],
    writablePolicies: policiesWritten(frames, compiled.writable, execution.policies, builder.programId),
    ours,
  };
}

/** Keys that a transaction's message marks writable, base58, whether or not it changed them. */
export function writableKeys(tx: LedgerTransaction): Key[] {
  const { header, accountKeys } = tx.message;
  const { numRequiredSignatures: signers, numReadonlySigned, numReadonlyUnsigned } = header;
  const isWritable = (at: number) =>
    at < signers ? at < signers - numReadonlySigned : at < accountKeys.length - numReadonlyUnsigned;
  const listed = accountKeys.filter((_, at) => isWritable(at));
  return [...listed, ...tx.loaded.writable].map(keyOf);
}
