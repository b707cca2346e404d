import { RpcError, VERSION_NOT_TAKEN } from '../../../runtime/rpc/error.ts';
import type { Rpc } from '../../../runtime/rpc/port.ts';
import { isRecorded, type SignatureInfo } from '../../../runtime/rpc/replies.ts';
import { isTooNew, NEWEST_VERSION } from '../../../runtime/rpc/versions.ts';
import { type Finding, note } from './finding.ts';

/** Null where there was no sound answer, or the node asks to be left alone. @throws RpcError where the node refuses */
export type Ask = <T>(
  method: keyof Rpc,
  params: readonly unknown[],
  read: (result: unknown) => T,
) => Promise<T | null>;

const ASKED = 8;

type Answer = Record<string, unknown> | 'none';

interface Reading {
  commitment: string;
  /** A node that is late need not have later transactions, which another one behind its address has listed. */
  settledTo: bigint;
}

/** Reads some of the transactions that a node lists, and tells what is not as it should be. */
export async function checkTransactions(
  listed: readonly SignatureInfo[],
  reading: Reading,
  ask: Ask,
): Promise<(Finding | null)[]> {
  const settled = listed.filter(({ slot }) => slot <= reading.settledTo);
  const some = spread(settled.length > 0 ? settled : listed);
  const { answers, version, untold } = await answersTo(some, reading, ask);
  const whole = answers.filter((answer) => answer !== 'none');
  const missing = answers.length - whole.length;
  const bare = whole.filter(({ meta }) => !isObject(meta)).length;
  const unrecorded = whole.filter((answer) => !isRecorded(answer)).length;
  const timeless = whole.filter(({ blockTime }) => typeof blockTime !== 'number').length;
  const of = (count: number) => `${count} of ${answers.length}`;
  const again =
    'they are asked for again, and what stays so keeps a gap of its slot open; name another node beside it';
  return [
    version === NEWEST_VERSION && !untold
      ? null
      : note(
          `versions: ${untold ? 'tells no transaction of version 1' : 'takes maxSupportedTransactionVersion 0 at most'}: one of version 1 keeps a gap of its slot open; name a node of a newer release beside it`,
        ),
    missing === 0
      ? null
      : note(`transactions: ${of(missing)} that it lists are answered with null: ${again}`),
    bare === 0 ? null : note(`transactions: ${of(bare)} come without meta: ${again}`),
    unrecorded === 0
      ? null
      : {
          mark: 'failed',
          text: `transactions: ${of(unrecorded)} come without inner instructions or logs: what one did is absent of all whom it names; have the node record them (--enable-extended-tx-metadata-storage), or name another beside it`,
        },
    timeless === 0
      ? null
      : note(
          `times: ${of(timeless)} transactions have no block time: such events are dated by their neighbours or absent from their day; name a node that knows block times before it`,
        ),
  ];
}

async function answersTo(some: readonly SignatureInfo[], { commitment, settledTo }: Reading, ask: Ask) {
  let version = NEWEST_VERSION;
  /** Whether a transaction was refused although a version that the node takes was asked for. */
  let untold = false;
  const answers: Answer[] = [];
  for (const { signature, slot } of some) {
    try {
      const config = { commitment, encoding: 'json', maxSupportedTransactionVersion: version };
      const answer = await ask('getTransaction', [signature, config], answerOf);
      if (answer === null || (answer === 'none' && slot > settledTo)) continue;
      answers.push(answer);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code === VERSION_NOT_TAKEN) untold = true;
      else if (isTooNew(error) && version > 0) version -= 1;
      else throw error;
    }
  }
  return { answers, version, untold };
}

function answerOf(result: unknown): Answer {
  if (result === null) return 'none';
  if (typeof result !== 'object') throw new TypeError('no transaction');
  return result as Record<string, unknown>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Some of a list, evenly spread over all of it. */
function spread(listed: readonly SignatureInfo[]): SignatureInfo[] {
  const count = Math.min(ASKED, listed.length);
  return listed.filter(
    (_, at) => Math.floor((at * count) / listed.length) !== Math.floor(((at - 1) * count) / listed.length),
  );
}
