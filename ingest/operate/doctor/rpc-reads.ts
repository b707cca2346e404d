import { createHash } from 'node:crypto';
import { asksForLess, RpcError } from '../../../runtime/rpc/error.ts';
import type { Rpc } from '../../../runtime/rpc/port.ts';
import { type SignatureInfo, signaturePage, slotOf } from '../../../runtime/rpc/replies.ts';
import { askForSmallerPage, isTooLarge } from '../../../runtime/rpc/reply-bounds.ts';
import { ACCOUNT_PREFIXES } from '../../../schemas/program/accounts.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_READ } from '../../accounts/account-parts.ts';
import { type Finding, note } from './finding.ts';
import type { Ask } from './rpc-transactions.ts';

/** Asks for no bytes of the accounts. */
const NO_BYTES = { encoding: 'base64', withContext: true, dataSlice: { offset: 0, length: 0 } };

/** Whether a node lists the accounts of a program, and reads a hundred at once. */
export async function checkReads(programId: string, commitment: string, ask: Ask): Promise<Finding[]> {
  const config = { ...NO_BYTES, commitment };
  const scan = (more = {}) => refusal(ask, 'getProgramAccounts', [programId, { ...config, ...more }]);
  const [prefix] = ACCOUNT_PREFIXES as [Uint8Array];
  const filters = [{ memcmp: { offset: 0, bytes: encodeBase58(prefix) } }];
  const findings: Finding[] = [];
  const words = await scan();
  if (words !== null && (await scan({ filters })) !== null)
    findings.push({
      mark: 'failed',
      text: `accounts: it lists none of a program (${words}): until history is complete policies that are not written are not known, and counts and sums over all are absent; have getProgramAccounts allowed, or name a node that has it beside it`,
    });
  const many = await refusal(ask, 'getMultipleAccounts', [nobodies(), { encoding: 'base64', commitment }]);
  if (many !== null)
    findings.push(
      note(
        `accounts: fewer than ${ADDRESSES_PER_READ} at once (${many}): reading them takes more requests; take a plan with ${ADDRESSES_PER_READ}`,
      ),
    );
  return findings;
}

/** Signatures that are listed at once, and fewer where that is refused. */
const LIMITS = [1_000, 100, 10] as const;
const LISTED = 200;

/** The newest transactions of the program, and a finding on how the node lists them. */
export async function listSome(
  programId: string,
  commitment: string,
  ask: Ask,
): Promise<{ listed: SignatureInfo[]; finding: Finding | null }> {
  let refused: string | null = null;
  for (const limit of LIMITS) {
    try {
      const params = [programId, { commitment, limit }];
      const page = await ask('getSignaturesForAddress', params, (result) =>
        signaturePage(result, limit),
      ).catch(askForSmallerPage(limit));
      const words = `lists: fewer than ${LIMITS[0]} signatures at once (${refused}): reading history takes more requests; take a plan with ${LIMITS[0]}`;
      return { listed: (page ?? []).slice(0, LISTED), finding: refused === null ? null : note(words) };
    } catch (error) {
      if (limit === LIMITS.at(-1) || !asksForLess(error)) throw error;
      // A page that is too large for what strangers wrote into it says nothing of the plan.
      if (!isTooLarge(error)) refused ??= (error as RpcError).message;
    }
  }
  return { listed: [], finding: null };
}

/** The node's words where it refuses a question; null where it does not. */
async function refusal(ask: Ask, method: keyof Rpc, params: readonly unknown[]): Promise<string | null> {
  try {
    await ask(method, params, (result) => slotOf((result as { context: { slot: unknown } }).context.slot));
    return null;
  } catch (error) {
    if (error instanceof RpcError) return error.message;
    throw error;
  }
}

/** As many addresses as are read at once, which nobody has a key of. */
const nobodies = () =>
  Array.from({ length: ADDRESSES_PER_READ }, (_, at) =>
    encodeBase58(createHash('sha256').update(`nobody ${at}`).digest()),
  );
