import { found, must } from './errors.ts';
import type { Addresses } from './state/addresses.ts';
import { type Arguments, encodeInstruction } from './state/borsh.ts';
import { eventFits } from './state/bounds.ts';
import type { Draft } from './state/draft.ts';
import type { TypedEvent } from './state/events.ts';
import type { Key, Policy, ProtocolConfig, TokenAccount } from './state/state.ts';

/** An account of an instruction. */
export interface Meta {
  key: Key;
  signer: boolean;
  writable: boolean;
}

export const readonly = (key: Key): Meta => ({ key, signer: false, writable: false });
export const writable = (key: Key): Meta => ({ key, signer: false, writable: true });
export const signer = (key: Key): Meta => ({ key, signer: true, writable: false });

/** What an instruction shows in its transaction, in order of execution: inner calls and events. */
export type Step = { type: 'cpi'; instruction: Instruction } | { type: 'event'; event: TypedEvent };

/** An instruction as it ran, from which the transaction is made. */
export interface Instruction {
  program: Key;
  /** CamelCase, as Anchor logs it. */
  name: string;
  data: Uint8Array;
  metas: Meta[];
  steps: Step[];
}

/** One run of an instruction: rules read and write the draft, and record what the transaction shows. */
export interface InstructionRun {
  draft: Draft;
  /** Unix seconds of the block. */
  now: bigint;
  programId: Key;
  addresses: Addresses;
  instruction: Instruction | null;
}

const camelNames = new Map<string, string>();

function camelName(snake: string): string {
  const known = camelNames.get(snake);
  if (known !== undefined) return known;
  const camel = snake.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  camelNames.set(snake, camel);
  return camel;
}

/** Begins an instruction of the program. Where a rule throws after this, the failed transaction shows it. */
export function begin(run: InstructionRun, name: string, args: Arguments, metas: Meta[]): void {
  run.instruction = {
    program: run.programId,
    name: camelName(name),
    data: encodeInstruction(name, args),
    metas,
    steps: [],
  };
}

function stepsOf(run: InstructionRun): Step[] {
  return found(run.instruction).steps;
}

/** @throws ProgramError ArithmeticOverflow */
export function emit(run: InstructionRun, event: TypedEvent): void {
  must(eventFits(event), 'ArithmeticOverflow');
  stepsOf(run).push({ type: 'event', event });
}

/** Calls another program from this instruction. */
export function invoke(run: InstructionRun, instruction: Instruction): void {
  stepsOf(run).push({ type: 'cpi', instruction });
}

export function configOf(run: InstructionRun): ProtocolConfig {
  return found(run.draft.get('configs', run.addresses.config.address));
}

/** The policy of a launched mint, to be written to. */
export function policyOf(run: InstructionRun, mint: Key): Policy {
  const address = run.addresses.ofPolicy(mint).policy;
  must(run.draft.get('policies', address) !== undefined, 'AccountMissing');
  return run.draft.edit('policies', address);
}

/** A policy as its instructions are given it: its account, its mint and its quote asset. */
export function policyMetas(run: InstructionRun, mint: Key): Meta[] {
  const address = run.addresses.ofPolicy(mint).policy;
  const quote = run.draft.get('policies', address)?.quoteMint;
  return [writable(address), readonly(mint), ...(quote === undefined ? [] : [readonly(quote)])];
}

/** What each event of a policy starts with. */
export function eventHead(policy: Policy): { policy: Key; mint: Key; quoteMint: Key } {
  return { policy: policy.address, mint: policy.mint, quoteMint: policy.quoteMint };
}

/** Money moves only while neither the protocol nor the policy is paused; the protocol is checked first. */
export function mustRun(run: InstructionRun, policy: Policy): void {
  must(!configOf(run).paused, 'ProtocolPaused');
  must(!policy.paused, 'PolicyPaused');
}

/** Balance of a token account; one that does not exist holds nothing. */
export function balanceOf(run: InstructionRun, address: Key): bigint {
  return run.draft.get('tokens', address)?.amount ?? 0n;
}

export function openTokenAccount(
  run: InstructionRun,
  account: Omit<TokenAccount, 'amount' | 'program'>,
): TokenAccount {
  const program = found(run.draft.get('mints', account.mint)).program;
  return run.draft.put('tokens', { ...account, program, amount: 0n });
}
