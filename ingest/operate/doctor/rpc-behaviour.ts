import type { Config } from '../../../runtime/config/config.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpcNode, type RpcNode } from '../../../runtime/rpc/node.ts';
import type { Rpc } from '../../../runtime/rpc/port.ts';
import { parseReply, slotOf } from '../../../runtime/rpc/replies.ts';
import { isTooLarge, MAX_BYTES } from '../../../runtime/rpc/reply-bounds.ts';
import { SETTLED_AFTER } from '../../history/prove-top.ts';
import { type Finding, note } from './finding.ts';
import { checkReads, listSome } from './rpc-reads.ts';
import { type Ask, checkTransactions } from './rpc-transactions.ts';

const TIMEOUT_MS = 3_000;
const PAGED: keyof Rpc = 'getSignaturesForAddress';
/** Asked for one after the other: nodes behind one address answer in turn. */
const SLOTS_ASKED = 12;
/** Healthy nodes may be this many slots apart. */
const SLOTS_APART = 4n;
/** A node that has answered none of this many requests is asked no more. */
const MOST_IN_VAIN = 2;

export interface RpcBehaviour {
  /** The node asks to be left alone for a time: nothing else can be asked of it now. */
  isBusy: boolean;
  findings: Finding[];
}

/**
 * What was answered, with each request sent once: the product sends failed ones again, which is what is to be reported.
 */
interface Tally {
  asked: number;
  /** How many answers were unsound; `words` are those of the last. */
  unsound: number;
  words: string;
}

/** Asks a node for slots and some transactions of the program, and tells how it answers. */
export async function checkRpcBehaviour(
  url: string,
  { programId, commitment }: Config,
  signal: AbortSignal,
): Promise<RpcBehaviour> {
  const node = createRpcNode(url, TIMEOUT_MS);
  const tally: Tally = { asked: 0, unsound: 0, words: '' };
  const ask = plainly(node, tally, signal);
  const slots: bigint[] = [];
  for (let asked = 0; asked < SLOTS_ASKED; asked += 1) {
    const slot = await ask('getSlot', [{ commitment }], slotOf);
    if (slot !== null) slots.push(slot);
  }
  const { listed, finding } = await listSome(programId, commitment, ask);
  const [lowest = 0n] = slots.toSorted((a, b) => Number(a - b));
  const found = [
    finding,
    ...(await checkTransactions(listed, { commitment, settledTo: lowest - SETTLED_AFTER }, ask)),
    ...(await checkReads(programId, commitment, ask)),
  ];
  const waitS = Math.ceil(node.waitMs() / 1000);
  const findings = [limited(waitS), unsound(tally), pooled(slots), ...found];
  return { isBusy: waitS > 0, findings: findings.filter((finding) => finding !== null) };
}

function plainly(node: RpcNode, tally: Tally, signal: AbortSignal): Ask {
  return async (method, params, read) => {
    const inVain = tally.unsound === tally.asked && tally.unsound >= MOST_IN_VAIN;
    if (inVain || node.waitMs() > 0 || signal.aborted) return null;
    tally.asked += 1;
    try {
      const result = await node.ask(method, params, MAX_BYTES[method]);
      return parseReply(method, () => read(result));
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind === 'refused') throw error;
      // Not the node's fault: a page that is too large is asked for in smaller ones.
      if (method === PAGED && isTooLarge(error)) throw error;
      if (node.waitMs() > 0) return null;
      tally.unsound += 1;
      tally.words = error.message;
      return null;
    }
  };
}

function limited(waitS: number): Finding | null {
  if (waitS === 0) return null;
  return {
    mark: 'failed',
    text: `limits: refuses requests for ${waitS} s (429 or 503 with Retry-After): nothing is asked of it meanwhile; have its limit raised, or name another node beside it`,
  };
}

function unsound({ asked, unsound: count, words }: Tally): Finding | null {
  if (count === 0) return null;
  return note(
    `answers: ${count} of ${asked} were none (${words}): each is asked for again, which takes its time; name another node beside it`,
  );
}

function pooled(slots: readonly bigint[]): Finding | null {
  let apart = 0n;
  let highest = 0n;
  for (const slot of slots) {
    if (highest - slot > apart) apart = highest - slot;
    if (slot > highest) highest = slot;
  }
  if (apart <= SLOTS_APART) return null;
  return note(
    `pool: answers come from nodes that are up to ${apart} slots apart: what a late one tells is asked for again; have requests pinned to one node, or name another before it`,
  );
}
