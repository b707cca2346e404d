import { begin, type Call, emit, named, policyMetas, policyOf, signer } from './call.ts';
import { must } from './errors.ts';
import { AGENT, type Key } from './state.ts';

/** The agent's inference spend: a meter, no money moves, so a pause does not stop it. */
export function noteCredit(call: Call, action: { mint: Key; by: Key; amount: bigint }): void {
  begin(call, 'note_credit', [action.amount], [signer(action.by), ...policyMetas(call, action.mint)]);
  const policy = policyOf(call, action.mint);
  must(policy.mode === AGENT, 'WrongMode');
  must(action.by === policy.agent, 'NotAgent');
  policy.creditSpent += action.amount;
  emit(call, { kind: 'CreditNoted', fields: { ...named(policy), amount: action.amount } });
}
