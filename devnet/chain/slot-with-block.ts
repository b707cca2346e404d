import type { Block, Ledger } from './ledger.ts';

/** The newest slot up to this one that has a block, as nodes tell it; null before the first. */
export function slotWithBlock(ledger: Pick<Ledger, 'tip' | 'block'>, upTo: bigint): bigint | null {
  let block: Block | null = ledger.tip();
  while (block !== null && block.slot > upTo) block = ledger.block(block.parent);
  return block?.slot ?? null;
}
