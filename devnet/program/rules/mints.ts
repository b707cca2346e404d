import { must } from '../errors.ts';
import { type InstructionRun, signer, writable } from '../instruction-run.ts';
import { seededKey } from '../state/keys.ts';
import type { Key, Mint, TokenMetadata } from '../state/state.ts';

export interface NewMint {
  mint: Key;
  program: Key;
  decimals: number;
  supply: bigint;
  metadata: TokenMetadata | null;
  /** Where the metadata stands: in the mint, or in an account of its own. */
  metadataIn: 'mint' | 'account';
  unknownExtension: boolean;
}

/** Writes a mint and what describes it. */
export function createMint(run: InstructionRun, action: NewMint): Mint {
  must(run.draft.get('mints', action.mint) === undefined, 'AccountInUse');
  const elsewhere = action.metadata !== null && action.metadataIn === 'account';
  const pointer = elsewhere ? seededKey(`metadata:${action.mint}`) : action.mint;
  if (elsewhere && action.metadata !== null) {
    run.draft.put('metadata', { address: pointer, mint: action.mint, ...action.metadata });
  }
  return run.draft.put('mints', {
    address: action.mint,
    program: action.program,
    decimals: action.decimals,
    supply: action.supply,
    metadata: elsewhere ? null : action.metadata,
    metadataPointer: action.metadata === null ? null : pointer,
    unknownExtension: action.unknownExtension,
  });
}

const INITIALIZE_MINT_2 = 20;

/** A mint of its own, such as a quote asset. */
function issueMint(run: InstructionRun, action: NewMint): void {
  run.instruction = {
    program: action.program,
    name: 'InitializeMint2',
    data: Uint8Array.of(INITIALIZE_MINT_2, action.decimals),
    metas: [signer(seededKey('issuer')), writable(action.mint)],
    steps: [],
  };
  createMint(run, action);
}

export const MINT_INSTRUCTIONS = { issue_mint: issueMint };
