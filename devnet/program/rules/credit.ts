import { must } from '../errors.ts';
import {
  begin,
  emit,
  eventHead,
  type InstructionRun,
  policyMetas,
  policyOf,
  signer,
} from '../instruction-run.ts';
import { AGENT, type Key } from '../state/state.ts';

/** The agent's inference spend: a meter, no money moves, so a pause does not stop it. */
function noteCredit(run: InstructionRun, action: { mint: Key; by: Key; amount: bigint }): void {
  begin(run, 'note_credit', [action.amount], [signer(action.by), ...policyMetas(run, action.mint)]);
  const policy = policyOf(run, action.mint);
  must(policy.mode === AGENT, 'WrongMode');
  must(action.by === policy.agent, 'NotAgent');
  policy.creditSpent += action.amount;
  emit(run, { kind: 'CreditNoted', fields: { ...eventHead(policy), amount: action.amount } });
}

export const CREDIT_INSTRUCTIONS = { note_credit: noteCredit };
