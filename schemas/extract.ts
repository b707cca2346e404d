import { decodeBase58, encodeBase58 } from './base58.ts';
import { decodeEvent, eventKind, type ProgramEvent } from './events.ts';
import { discriminatorOf, EMITTING } from './idl.ts';
import { MalformedError } from './malformed.ts';
import { eventAuthority } from './pda.ts';
import type { Call, ChainTransaction } from './transaction.ts';

export interface BadEvent {
  reason: string;
  bytes: Uint8Array;
}

/** What a transaction says of the program. */
export type Extract =
  | {
      status: 'whole';
      /** In execution order; `position` counts them from 0. */
      events: { position: number; event: ProgramEvent }[];
      /** Events of the program with a discriminator that nobody knows. */
      badEvents: BadEvent[];
      /** Accounts that a call of the program was given as writable, base58. */
      writable: string[];
    }
  | {
      status: 'incomplete';
      reason: string;
      /** Accounts of the calls whose events are missing, base58. */
      accounts: string[];
    };

const CPI_TAG = Uint8Array.of(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d);
const DATA = 'Program data: ';
const INVOKE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[(\d{1,2})\]$/;
const LEAVE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) (?:success$|failed)/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

/** Whether the runtime cut the logs, or kept none. */
export function logsCut(logs: readonly string[] | null): boolean {
  return logs === null || logs.includes('Log truncated');
}

/**
 * The program's events in execution order: log lines printed while it runs (`emit!`) and self-calls (`emit_cpi!`),
 * found by walking the log stack beside the calls. The k-th `invoke` line belongs to the k-th call, but for
 * precompiles, which print none.
 */
export function extractEvents(tx: ChainTransaction, programId: Uint8Array): Extract {
  const writable = writableAccounts(tx, programId);
  if (tx.failed) return { status: 'whole', events: [], badEvents: [], writable: [] };

  const walk = new Walk(tx.calls, programId);
  for (const line of tx.logs ?? []) {
    if (line === 'Log truncated') break;
    walk.line(line);
  }
  walk.rest();

  const undecoded = walk.found.find((found) => found.event === null && eventKind(found.bytes) !== null);
  if (undecoded !== undefined) {
    const accounts = undecoded.call?.accounts ?? [];
    return { status: 'incomplete', reason: undecoded.reason, accounts: accounts.map(({ address }) => encodeBase58(address)) };
  }
  if (logsCut(tx.logs)) {
    const silent = walk.silentCalls();
    if (silent.length > 0) {
      const accounts = new Set(silent.flatMap((call) => call.accounts.map(({ address }) => encodeBase58(address))));
      return { status: 'incomplete', reason: 'its logs were cut before an event of ours', accounts: [...accounts] };
    }
  }
  const events = walk.found.flatMap(({ event }) => (event === null ? [] : [event]));
  return {
    status: 'whole',
    events: events.map((event, position) => ({ position, event })),
    badEvents: walk.found.filter(({ event }) => event === null).map(({ bytes, reason }) => ({ bytes, reason })),
    writable,
  };
}

function writableAccounts(tx: ChainTransaction, programId: Uint8Array): string[] {
  const found = new Set<string>();
  for (const call of tx.calls) {
    if (!same(call.program, programId)) continue;
    for (const account of call.accounts) if (account.writable) found.add(encodeBase58(account.address));
  }
  return [...found];
}

interface Found {
  event: ProgramEvent | null;
  bytes: Uint8Array;
  reason: string;
  /** The call that emitted it, where the walk knows it. */
  call: Call | undefined;
}

interface Frame {
  program: Uint8Array | null;
  call: Call | undefined;
}

class Walk {
  readonly found: Found[] = [];
  readonly #calls: readonly Call[];
  readonly #programId: Uint8Array;
  readonly #authority: Uint8Array;
  readonly #stack: Frame[] = [];
  /** The calls from the top level down to the newest one. */
  readonly #path: Call[] = [];
  #next = 0;

  constructor(calls: readonly Call[], programId: Uint8Array) {
    this.#calls = calls;
    this.#programId = programId;
    this.#authority = eventAuthority(programId);
  }

  line(line: string): void {
    if (line.startsWith(DATA)) {
      const frame = this.#stack.at(-1);
      if (frame?.program && same(frame.program, this.#programId)) this.#data(line.slice(DATA.length), frame.call);
      return;
    }
    const invoke = INVOKE.exec(line);
    if (invoke !== null) {
      const program = decodeBase58(invoke[1] as string);
      this.#stack.length = Math.min(this.#stack.length, Number(invoke[2]) - 1);
      this.#stack.push({ program, call: program === null ? undefined : this.#enter(program, Number(invoke[2])) });
      return;
    }
    if (LEAVE.test(line)) this.#stack.pop();
  }

  /** Calls behind the last line: the tree shows their self-calls though the logs do not. */
  rest(): void {
    for (; this.#next < this.#calls.length; this.#next += 1) this.#run(this.#calls[this.#next] as Call);
  }

  /** Calls of ours that emit an event and show none. */
  silentCalls(): Call[] {
    const heard = new Set(this.found.map(({ call }) => call));
    return this.#calls.filter(
      (call) =>
        same(call.program, this.#programId) && EMITTING.has(discriminatorOf(call.data)) && !heard.has(call),
    );
  }

  #enter(program: Uint8Array, depth: number): Call | undefined {
    const at = this.#calls.findIndex(
      (call, index) => index >= this.#next && call.depth === depth && same(call.program, program),
    );
    if (at < 0) return undefined;
    for (; this.#next <= at; this.#next += 1) this.#run(this.#calls[this.#next] as Call);
    return this.#calls[at];
  }

  #run(call: Call): void {
    this.#path.length = Math.min(this.#path.length, call.depth - 1);
    const caller = this.#path.at(-1);
    this.#path.push(call);
    const [only, ...others] = call.accounts;
    const isEvent =
      call.depth > 1 &&
      same(call.program, this.#programId) &&
      call.data.length >= 8 &&
      same(call.data.subarray(0, 8), CPI_TAG) &&
      others.length === 0 &&
      only !== undefined &&
      same(only.address, this.#authority);
    if (isEvent) this.#event(call.data.subarray(8), caller);
  }

  #data(text: string, call: Call | undefined): void {
    if (BASE64.test(text)) this.#event(Buffer.from(text, 'base64'), call);
    else this.found.push({ event: null, bytes: Buffer.from(text), reason: 'its data line is no base64', call });
  }

  #event(bytes: Uint8Array, call: Call | undefined): void {
    try {
      this.found.push({ event: decodeEvent(bytes), bytes, reason: '', call });
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      this.found.push({ event: null, bytes, reason: error.message, call });
    }
  }
}
