import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { eventAuthority } from '../../../schemas/solana/pda.ts';
import type { Account, Call, ChainTransaction } from '../../../schemas/transaction/parts.ts';

/** What a program does while it runs. */
export type Step =
  | { emit: Uint8Array }
  | { emitCpi: Uint8Array }
  | { log: string }
  | { print: string }
  | { call: Run };

export interface Run {
  program: Uint8Array;
  accounts?: Account[];
  data?: Uint8Array;
  steps?: Step[];
  /** The runtime prints no line for such a call. */
  precompile?: boolean;
}

const TAG = Uint8Array.of(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d);

/** Runs the calls as the runtime would: the instruction tree in execution order, and the log lines. */
export function run(tops: readonly Run[], failed = false): ChainTransaction {
  const calls: Call[] = [];
  const logs: string[] = [];
  for (const top of tops) execute(top, 1, calls, logs);
  return { failed, calls, depthsTold: true, logs, tokenBalances: () => [] };
}

function execute(what: Run, depth: number, calls: Call[], logs: string[]): void {
  const { program, accounts = [], data = new Uint8Array(0), steps = [] } = what;
  calls.push({ program, accounts, data, depth });
  if (what.precompile === true) return;
  const id = encodeBase58(program);
  logs.push(`Program ${id} invoke [${depth}]`);
  for (const step of steps) {
    if ('emit' in step) logs.push(`Program data: ${Buffer.from(step.emit).toString('base64')}`);
    else if ('log' in step) logs.push(`Program log: ${step.log}`);
    else if ('print' in step) logs.push(step.print);
    else execute('call' in step ? step.call : selfCall(program, step.emitCpi), depth + 1, calls, logs);
  }
  logs.push(`Program ${id} consumed 2000 of 200000 compute units`, `Program ${id} success`);
}

/** What `emit_cpi!` does. */
export function selfCall(program: Uint8Array, event: Uint8Array): Run {
  return {
    program,
    accounts: [{ address: eventAuthority(program), writable: false }],
    data: Uint8Array.from([...TAG, ...event]),
  };
}

/** Cuts logs as the runtime does: lines that do not fit are dropped, the first with a mark; shorter ones still fit. */
export function cutLogs(logs: readonly string[], limitBytes: number): string[] {
  const kept: string[] = [];
  let written = 0;
  for (const line of logs) {
    if (written + line.length < limitBytes) {
      written += line.length;
      kept.push(line);
    } else if (!kept.includes('Log truncated')) {
      kept.push('Log truncated');
    }
  }
  return kept;
}
