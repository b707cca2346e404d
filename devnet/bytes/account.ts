import { encodeAccount } from '../program/state/borsh.ts';
import { LAUNCHPAD_PROGRAM, TOKEN_2022_PROGRAM } from '../program/state/known-programs.ts';
import type { Key, TableName, Tables } from '../program/state/state.ts';
import { curveConfigData, poolData } from './launchpad.ts';
import { metadataAccountData, mintData, tokenAccountData } from './mint.ts';

/** Account data of a typed account, by table. */
const ENCODERS: { [T in TableName]: (value: Tables[T]) => Uint8Array } = {
  configs: (value) => encodeAccount('ProtocolConfig', value),
  origins: (value) => encodeAccount('Origin', value),
  models: (value) => encodeAccount('Model', value),
  policies: (value) => encodeAccount('Policy', value),
  venues: (value) => encodeAccount('VenueAccount', value),
  tokens: tokenAccountData,
  mints: mintData,
  metadata: metadataAccountData,
  curves: curveConfigData,
  pools: poolData,
};

export function encodeRow<T extends TableName>(table: T, value: Tables[T]): Uint8Array {
  return ENCODERS[table](value);
}

/** The program that owns an account of a table. */
export function ownerOf<T extends TableName>(table: T, value: Tables[T], programId: Key): Key {
  if (table === 'tokens' || table === 'mints') return (value as Tables['tokens' | 'mints']).program;
  if (table === 'metadata') return TOKEN_2022_PROGRAM;
  if (table === 'pools' || table === 'curves') return LAUNCHPAD_PROGRAM;
  return programId;
}
