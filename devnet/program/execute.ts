import { type Action, INSTRUCTIONS, type SingleAction } from './actions.ts';
import { must, ProgramError, type ProgramErrorName } from './errors.ts';
import { begin, type Instruction, type InstructionRun, signer } from './instruction-run.ts';
import type { Addresses } from './state/addresses.ts';
import { rowFits } from './state/bounds.ts';
import type { Draft } from './state/draft.ts';
import { seededKey } from './state/keys.ts';
import { type Key, TABLE_NAMES } from './state/state.ts';

/** What a transaction did: its instructions as far as they got, and the rule that stopped it. */
export interface Execution {
  instructions: Instruction[];
  error: ProgramErrorName | null;
  /** Policies among the accounts of the instructions, as they were then. */
  policies: Key[];
}

function policiesIn(draft: Draft, instructions: readonly Instruction[]): Key[] {
  const keys = new Set(instructions.flatMap((instruction) => instruction.metas.map((meta) => meta.key)));
  return [...keys].filter((key) => draft.get('policies', key) !== undefined);
}

/** Amounts that a rule wrote must fit the types of their accounts. @throws ProgramError ArithmeticOverflow */
function mustFit({ changes }: Draft): void {
  for (const table of TABLE_NAMES)
    for (const row of changes[table]?.values() ?? [])
      must(row === null || rowFits(table, row), 'ArithmeticOverflow');
}

type Rule = (run: InstructionRun, action: SingleAction) => void;

/** Runs a transaction over a draft; where it fails, the draft is half written and must be thrown away. */
export function execute(
  draft: Draft,
  action: Action,
  where: { now: bigint; programId: string; addresses: Addresses },
): Execution {
  const instructions: Instruction[] = [];
  for (const single of action.kind === 'batch' ? action.actions : [action]) {
    const run: InstructionRun = { draft, ...where, instruction: null };
    let error: ProgramErrorName | null = null;
    try {
      (INSTRUCTIONS[single.kind] as Rule)(run, single);
      mustFit(draft);
    } catch (thrown) {
      if (!(thrown instanceof ProgramError)) throw thrown;
      error = thrown.rule;
    }
    // A rule that failed before it had listed its accounts still makes a (failed) transaction.
    if (run.instruction === null)
      begin(run, single.kind, [], [signer('by' in single ? single.by : seededKey('somebody'))]);
    if (run.instruction !== null) instructions.push(run.instruction);
    if (error !== null) return { instructions, error, policies: policiesIn(draft, instructions) };
  }
  return { instructions, error: null, policies: policiesIn(draft, instructions) };
}
