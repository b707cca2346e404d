import type { Addresses } from './addresses.ts';
import { encodeInstruction } from './borsh.ts';
import type { Draft } from './draft.ts';
import { found, must } from './errors.ts';
import type { TypedEvent } from './events.ts';
import type { Key, Policy, ProtocolConfig, TokenAccount } from './state.ts';

/** An account of an instruction. */
export interface Meta {
  key: Key;
  signer: boolean;
  writable: boolean;
}

export const readonly = (key: Key): Meta => ({ key, signer: false, writable: false });
export const writable = (key: Key): Meta => ({ key, signer: false, writable: true });
export const signer = (key: Key): Meta => ({ key, signer: true, writable: false });

/** What an instruction does beside its own bookkeeping, in order of execution. */
export type Step = { type: 'cpi'; instruction: Instruction } | { type: 'event'; event: TypedEvent };

/** An instruction as it ran, for the transaction to be written from. */
export interface Instruction {
  program: Key;
  /** CamelCase, as Anchor logs it. */
  name: string;
  data: Uint8Array;
  metas: Meta[];
  steps: Step[];
}

/** One run of one instruction: rules read and write the draft, and leave behind what the transaction shows. */
export interface Call {
  draft: Draft;
  /** Unix seconds of the block. */
  now: bigint;
  programId: Key;
  addresses: Addresses;
  instruction: Instruction | null;
}

export function camelName(snake: string): string {
  return snake.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Opens the program's instruction; what its rules throw after this fails a transaction that shows it. */
export function begin(
  call: Call,
  name: string,
  args: readonly (bigint | number | boolean)[],
  metas: Meta[],
): void {
  call.instruction = {
    program: call.programId,
    name: camelName(name),
    data: encodeInstruction(name, args),
    metas,
    steps: [],
  };
}

function stepsOf(call: Call): Step[] {
  return found(call.instruction).steps;
}

export function emit(call: Call, event: TypedEvent): void {
  stepsOf(call).push({ type: 'event', event });
}

/** Calls another program from this instruction. */
export function invoke(call: Call, instruction: Instruction): void {
  stepsOf(call).push({ type: 'cpi', instruction });
}

export function configOf(call: Call): ProtocolConfig {
  return found(call.draft.get('configs', call.addresses.config.address));
}

/** The policy of a launched mint, to be written to. */
export function policyOf(call: Call, mint: Key): Policy {
  const address = call.addresses.ofPolicy(mint).policy;
  must(call.draft.get('policies', address) !== undefined, 'AccountMissing');
  return call.draft.edit('policies', address);
}

/** A policy as its instructions are given it: its account, its mint and its quote asset. */
export function policyMetas(call: Call, mint: Key): Meta[] {
  const address = call.addresses.ofPolicy(mint).policy;
  const quote = call.draft.get('policies', address)?.quoteMint;
  return [writable(address), readonly(mint), ...(quote === undefined ? [] : [readonly(quote)])];
}

/** What each event of a policy starts with. */
export function named(policy: Policy): { policy: Key; mint: Key; quoteMint: Key } {
  return { policy: policy.address, mint: policy.mint, quoteMint: policy.quoteMint };
}

/** Money moves only while neither switch is set; the protocol's is looked at first. */
export function mustRun(call: Call, policy: Policy): void {
  must(!configOf(call).paused, 'ProtocolPaused');
  must(!policy.paused, 'PolicyPaused');
}

/** Balance of a token account; one that does not exist holds nothing. */
export function balanceOf(call: Call, address: Key): bigint {
  return call.draft.get('tokens', address)?.amount ?? 0n;
}

export function openTokenAccount(
  call: Call,
  account: Omit<TokenAccount, 'amount' | 'program'>,
): TokenAccount {
  const program = found(call.draft.get('mints', account.mint)).program;
  return call.draft.put('tokens', { ...account, program, amount: 0n });
}
