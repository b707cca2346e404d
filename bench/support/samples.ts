import { randomBytes } from 'node:crypto';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import type { AccountWrite, Block, LedgerTransaction } from '../../devnet/chain/ledger.ts';
import { createLife } from '../../devnet/life/life.ts';
import { bytesOf } from '../../devnet/program/state/keys.ts';

const POLICIES = 400;
export const TRANSACTIONS_PER_SLOT = 40;
export const FIRST_SLOT = 1_000n;
const ACCOUNT_BYTES = 619;

export interface Samples {
  chain: Chain;
  /** Account states of POLICIES policies. */
  policies: AccountWrite[];
  /** Transactions of the program with events. */
  transactions: LedgerTransaction[];
}

/** Makes a small chain whose accounts and transactions a benchmark sends repeatedly. */
export async function samples(): Promise<Samples> {
  const chain = createChain({ dir: null, seed: 'bench', genesisTime: Date.now() });
  const life = createLife(chain, {
    seed: 'bench',
    policies: POLICIES,
    rate: 60,
    metadataBase: 'http://127.0.0.1:1',
  });
  const transactions: LedgerTransaction[] = [];
  while (chain.state().policies.size < POLICIES) {
    const block = await chain.produce(life.next());
    transactions.push(...block.transactions.filter(({ ours, events }) => ours && events.length > 0));
  }
  const policies = [...chain.state().policies.keys()].flatMap((address) => {
    const account = chain.account(bytesOf(address));
    return account === null ? [] : [account];
  });
  return {
    chain,
    policies,
    transactions: transactions.slice(-TRANSACTIONS_PER_SLOT * 10),
  };
}

/** A block whose accounts and transactions are the samples with fresh write versions and signatures. */
export function blockOf(slot: bigint, { policies, transactions }: Samples): Block {
  const writes = policies.map((account, index) => ({
    ...account,
    data: Buffer.concat([account.data], ACCOUNT_BYTES),
    writeVersion: slot * 1_000n + BigInt(index),
    signature: randomBytes(64),
  }));
  const start = Number(slot) * TRANSACTIONS_PER_SLOT;
  return {
    slot,
    parent: slot - 1n,
    blockTime: Math.floor(Date.now() / 1000),
    blockhash: randomBytes(32),
    parentBlockhash: randomBytes(32),
    writes,
    transactions: Array.from({ length: TRANSACTIONS_PER_SLOT }, (_, index) => ({
      ...(transactions[(start + index) % transactions.length] as LedgerTransaction),
      signature: randomBytes(64),
      index,
    })),
  };
}
