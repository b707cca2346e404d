import type { Chain } from '../../../devnet/chain/chain.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyTokenAccounts } from '../../../schemas/solana/pda.ts';
import type { LogModel } from './log-model.ts';

/** Signatures of the program's transactions that succeeded, with their slot and index, in the ledger's order. */
export function ledgerTransactions(chain: Chain): { signature: string; slot: bigint; index: number }[] {
  const found = [];
  for (let slot = chain.firstSlot; slot <= chain.tip().slot; slot += 1n) {
    for (const tx of chain.block(slot)?.transactions ?? []) {
      if (tx.ours && tx.failed === null)
        found.push({ signature: encodeBase58(tx.signature), slot, index: tx.index });
    }
  }
  return found;
}

/** Token accounts, mints and pools that the chain's policies and Local venue accounts make worth following. */
function followedByRule(chain: Chain): Set<string> {
  const program = decodeKey(chain.programId) as Uint8Array;
  const followed = new Set<string>();
  const { policies, venues } = chain.state();
  for (const [address, { mint, quoteMint }] of policies) {
    followed.add(address).add(mint).add(quoteMint);
    const tokens = policyTokenAccounts(program, decodeKey(address) as Uint8Array);
    for (const token of Object.values(tokens)) followed.add(encodeBase58(token));
  }
  for (const [address, venue] of venues) {
    followed.add(address).add(venue.assetMint);
    if (venue.kind === 0) followed.add(venue.tokenAccount);
  }
  return followed;
}

/** Addresses whose newest state in the log is not the ledger's. */
export function wrongStates(chain: Chain, model: LogModel): string[] {
  const wrong: string[] = [];
  const addresses = new Set([...model.accounts.keys(), ...followedByRule(chain)]);
  for (const address of addresses) {
    const held = model.accounts.get(address);
    const truth = chain.account(decodeKey(address) as Uint8Array);
    const exists = truth !== null && truth.lamports > 0n;
    if (held === undefined) wrong.push(`${address} was never read`);
    else if (held.lamports > 0n !== exists) wrong.push(`${address} exists: ${exists}`);
    else if (exists && Buffer.compare(held.data, truth.data) !== 0)
      wrong.push(`${address} of slot ${held.slot}`);
  }
  return wrong;
}

/** Slots of the ledger's blocks behind `after`. */
export function blocksBehind(chain: Chain, after: bigint): bigint[] {
  const slots: bigint[] = [];
  for (let slot = after + 1n; slot <= chain.tip().slot; slot += 1n)
    if (chain.block(slot) !== null) slots.push(slot);
  return slots;
}
