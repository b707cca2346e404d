import { found } from '../program/errors.ts';
import type { Draft } from '../program/state/draft.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../program/state/known-programs.ts';
import type { Key, ProgramState, TokenAccount } from '../program/state/state.ts';
import type { TokenBalance } from './ledger.ts';

/** What a token account held before a transaction and after it; null where it did not exist. */
export interface HeldTokens {
  account: Key;
  mint: Key;
  owner: Key;
  program: Key;
  decimals: number;
  before: bigint | null;
  after: bigint | null;
}

/** Balances of the token accounts among `keys`. @param draft null where the transaction failed, and changed nothing */
export function heldTokens(keys: Iterable<Key>, state: ProgramState, draft: Draft | null): HeldTokens[] {
  return [...keys].flatMap((account) => {
    const before = state.tokens.get(account);
    const after = draft === null ? before : draft.get('tokens', account);
    const known: TokenAccount | undefined = after ?? before;
    if (known === undefined) return [];
    const { mint, owner, program } = known;
    const { decimals } = found(draft?.get('mints', mint) ?? state.mints.get(mint));
    const amounts = { before: before?.amount ?? null, after: after?.amount ?? null };
    return [{ account, mint, owner, program, decimals, ...amounts }];
  });
}

/** Balances as the runtime reports them: none for a transaction without a token program among its keys. */
export function tokenBalances(held: readonly HeldTokens[], keys: readonly Key[]): TokenBalance[] {
  if (!keys.includes(TOKEN_PROGRAM) && !keys.includes(TOKEN_2022_PROGRAM)) return [];
  return held
    .map(({ account, ...rest }) => ({ accountIndex: keys.indexOf(account), ...rest }))
    .filter(({ accountIndex }) => accountIndex >= 0);
}
