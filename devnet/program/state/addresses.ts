import { derivePda } from '../../../schemas/solana/pda.ts';
import { bytesOf, keyOf, seededKey } from './keys.ts';
import { LAUNCHPAD_PROGRAM } from './known-programs.ts';
import type { Key } from './state.ts';

export interface Located {
  address: Key;
  bump: number;
}

export interface PolicyAddresses {
  policy: Key;
  bump: number;
  bankroll: Key;
  quoteEscrow: Key;
  baseEscrow: Key;
  holderRewards: Key;
  lpQuote: Key;
}

/** Every address the program derives, each derived once. */
export interface Addresses {
  config: Located;
  eventAuthority: Key;
  origin(id: number): Located;
  model(id: number): Located;
  ofPolicy(mint: Key): PolicyAddresses;
  venue(policy: Key, tokenAccount: Key): Located;
  pool(baseMint: Key, quoteMint: Key): Key;
  /** Token account of the fee destination for a quote mint. */
  feeAccount(destination: Key, quoteMint: Key): Key;
}

const text = (word: string) => new TextEncoder().encode(word);
const u16 = (id: number) => Uint8Array.of(id & 255, id >> 8);

/** Addresses under one program id. */
export function createAddresses(programId: Key): Addresses {
  const program = bytesOf(programId);
  const memory = new Map<string, Located>();
  const located = (name: string, seeds: () => Uint8Array[], under = program): Located => {
    const known = memory.get(name);
    if (known !== undefined) return known;
    const { address, bump } = derivePda(under, seeds());
    const fresh = { address: keyOf(address), bump };
    memory.set(name, fresh);
    return fresh;
  };
  const policies = new Map<Key, PolicyAddresses>();
  return {
    config: located('config', () => [text('config')]),
    eventAuthority: located('events', () => [text('__event_authority')]).address,
    origin: (id) => located(`origin:${id}`, () => [text('origin'), u16(id)]),
    model: (id) => located(`model:${id}`, () => [text('model'), u16(id)]),
    ofPolicy: (mint) => {
      const known = policies.get(mint);
      if (known !== undefined) return known;
      const { address: policy, bump } = located(`policy:${mint}`, () => [text('policy'), bytesOf(mint)]);
      const at = (name: string) => located(`${name}:${mint}`, () => [text(name), bytesOf(policy)]).address;
      const fresh = {
        policy,
        bump,
        bankroll: at('bankroll'),
        quoteEscrow: at('quote_escrow'),
        baseEscrow: at('base_escrow'),
        holderRewards: at('holder_rewards'),
        lpQuote: at('lp_quote'),
      };
      policies.set(mint, fresh);
      return fresh;
    },
    venue: (policy, tokenAccount) =>
      located(`venue:${policy}:${tokenAccount}`, () => [
        text('venue'),
        bytesOf(policy),
        bytesOf(tokenAccount),
      ]),
    pool: (baseMint, quoteMint) =>
      located(
        `pool:${baseMint}:${quoteMint}`,
        () => [text('pool'), bytesOf(baseMint), bytesOf(quoteMint)],
        bytesOf(LAUNCHPAD_PROGRAM),
      ).address,
    feeAccount: (destination, quoteMint) => seededKey(`fee-account:${destination}:${quoteMint}`),
  };
}
