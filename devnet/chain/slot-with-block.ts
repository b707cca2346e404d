import type { Block, Ledger } from './ledger.ts';

/** The newest slot up to `upTo` that has a block, which is what nodes report; null before the first block. */
export function slotWithBlock(ledger: Pick<Ledger, 'tip' | 'block'>, upTo: bigint): bigint | null {
  let block: Block | null = ledger.tip();
  while (block !== null && block.slot > upTo) block = ledger.block(block.parent);
  return block?.slot ?? null;
}
