import { found, must } from '../errors.ts';
import {
  type Instruction,
  type InstructionRun,
  invoke,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import { isU64 } from '../state/bounds.ts';
import type { Key } from '../state/state.ts';

const TRANSFER_CHECKED = 12;
const BURN_CHECKED = 15;
const CLOSE_ACCOUNT = 9;

function amountData(tag: number, amount: bigint, decimals: number): Uint8Array {
  must(isU64(amount), 'ArithmeticOverflow');
  const data = Buffer.alloc(10);
  data.writeUInt8(tag);
  data.writeBigUInt64LE(amount, 1);
  data.writeUInt8(decimals, 9);
  return new Uint8Array(data);
}

/**
 * Moves tokens of `mint` between two token accounts. Where one of them is not in this chain's state (a venue's vault, a
 * trader's wallet), only the other one changes.
 * @throws ProgramError InsufficientFunds, ArithmeticOverflow
 */
export function transferTokens(
  run: InstructionRun,
  transfer: { from: Key; to: Key; mint: Key; authority: Key; amount: bigint },
): Instruction {
  const mint = found(run.draft.get('mints', transfer.mint));
  if (run.draft.get('tokens', transfer.from) !== undefined) {
    const from = run.draft.edit('tokens', transfer.from);
    must(from.amount >= transfer.amount, 'InsufficientFunds');
    from.amount -= transfer.amount;
  }
  if (run.draft.get('tokens', transfer.to) !== undefined) {
    run.draft.edit('tokens', transfer.to).amount += transfer.amount;
  }
  return {
    program: mint.program,
    name: 'TransferChecked',
    data: amountData(TRANSFER_CHECKED, transfer.amount, mint.decimals),
    metas: [
      writable(transfer.from),
      readonly(transfer.mint),
      writable(transfer.to),
      signer(transfer.authority),
    ],
    steps: [],
  };
}

/** A transfer as an inner call of the running instruction; none where the amount is 0. */
export function moveTokens(run: InstructionRun, transfer: Parameters<typeof transferTokens>[1]): void {
  if (transfer.amount > 0n) invoke(run, transferTokens(run, transfer));
}

/** Burns tokens of an account: its balance and the mint's supply fall. */
export function burnTokens(
  run: InstructionRun,
  burn: { from: Key; mint: Key; authority: Key; amount: bigint },
): void {
  const mint = run.draft.edit('mints', burn.mint);
  const from = run.draft.get('tokens', burn.from);
  if (from !== undefined) {
    must(from.amount >= burn.amount, 'InsufficientFunds');
    run.draft.edit('tokens', burn.from).amount -= burn.amount;
  }
  must(mint.supply >= burn.amount, 'InsufficientFunds');
  mint.supply -= burn.amount;
  invoke(run, {
    program: mint.program,
    name: 'BurnChecked',
    data: amountData(BURN_CHECKED, burn.amount, mint.decimals),
    metas: [writable(burn.from), writable(burn.mint), signer(burn.authority)],
    steps: [],
  });
}

/** A plain transfer into or out of a token account, without the bankroll program. */
function transfer(
  run: InstructionRun,
  action: { account: Key; amount: bigint; direction: 'in' | 'out' },
): void {
  const account = found(run.draft.get('tokens', action.account));
  const outside = `${action.direction === 'in' ? account.mint : account.owner}`;
  run.instruction = transferTokens(run, {
    from: action.direction === 'in' ? outside : action.account,
    to: action.direction === 'in' ? action.account : outside,
    mint: account.mint,
    authority: action.direction === 'in' ? outside : account.owner,
    amount: action.amount,
  });
}

/** Closes an empty token account. */
function closeTokenAccount(run: InstructionRun, action: { account: Key }): void {
  const account = found(run.draft.get('tokens', action.account));
  must(account.amount === 0n, 'InsufficientFunds');
  run.instruction = {
    program: account.program,
    name: 'CloseAccount',
    data: Uint8Array.of(CLOSE_ACCOUNT),
    metas: [writable(action.account), writable(account.owner), signer(account.owner)],
    steps: [],
  };
  run.draft.remove('tokens', action.account);
}

export const TOKEN_INSTRUCTIONS = { transfer, close_token_account: closeTokenAccount };
