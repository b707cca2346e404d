import { MalformedError } from '../malformed.ts';
import { decodeKey } from './base58.ts';

/** The classic and the extended (2022) token program. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

const PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((text) => decodeKey(text) as Uint8Array);

export const isTokenProgram = (owner: Uint8Array): boolean =>
  PROGRAMS.some((program) => Buffer.compare(program, owner) === 0);

export interface TokenAccount {
  mint: Uint8Array;
  owner: Uint8Array;
  /** Base units. */
  amount: bigint;
}

export interface TokenMetadata {
  mint: Uint8Array;
  name: string;
  symbol: string;
  uri: string;
}

export interface Mint {
  decimals: number;
  supply: bigint;
  /** Metadata that is kept in the mint itself and names it; null where there is none. */
  metadata: TokenMetadata | null;
  /** Another account that holds the metadata, or null. */
  metadataPointer: Uint8Array | null;
}

const MINT_SIZE = 82;
const ACCOUNT_SIZE = 165;
/** Both programs tell a multisig by its length alone. Its creator chooses its bytes, so its type byte says nothing. */
const MULTISIG_SIZE = 355;
/** Offset of a mint's flag that it is initialised. */
const INITIALISED_AT = 45;
/** Offset of the account type in an account with extensions: 1 mint, 2 token account. */
const TYPE_AT = 165;
const TLV_AT = 166;
const METADATA_POINTER = 18;
const TOKEN_METADATA = 19;
/** Most bytes of a text of metadata: where one is longer the metadata does not count, but the mint does. */
const MAX_TEXT = 10_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What an account of a token program is, by its length and account type. */
export function tokenProgramKind(data: Uint8Array): 'mint' | 'account' | null {
  if (data.length === MINT_SIZE) return 'mint';
  if (data.length === ACCOUNT_SIZE) return 'account';
  if (data.length <= TYPE_AT || data.length === MULTISIG_SIZE) return null;
  if (data[TYPE_AT] === 1) return 'mint';
  return data[TYPE_AT] === 2 ? 'account' : null;
}

/** The same for an account of either token program; null for an account of any other. */
export const tokenKindOf = ({ owner, data }: { owner: Uint8Array; data: Uint8Array }) =>
  isTokenProgram(owner) ? tokenProgramKind(data) : null;

export const isInitialisedMint = (account: { owner: Uint8Array; data: Uint8Array }): boolean =>
  tokenKindOf(account) === 'mint' && account.data[INITIALISED_AT] === 1;

/** @throws MalformedError where the bytes are no initialised token account. */
export function decodeTokenAccount(data: Uint8Array): TokenAccount {
  if (tokenProgramKind(data) !== 'account') {
    throw new MalformedError('token account', `${data.length} bytes that are no token account`);
  }
  const state = data[108] as number;
  if (state < 1 || state > 2) throw new MalformedError('token account', `state ${state} is not initialised`);
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  return { mint: data.subarray(0, 32), owner: data.subarray(32, 64), amount: view.getBigUint64(64, true) };
}

/**
 * Reads a mint of either program with its metadata, whatever other extensions it carries.
 * @param address the mint's own, which its metadata must name.
 * @throws MalformedError where the bytes are no initialised mint.
 */
export function decodeMint(data: Uint8Array, address: Uint8Array): Mint {
  if (tokenProgramKind(data) !== 'mint')
    throw new MalformedError('mint', `${data.length} bytes that are no mint`);
  if (data[INITIALISED_AT] !== 1) throw new MalformedError('mint', 'not initialised');
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const extensions = readExtensions(data);
  const pointed = extensions.get(METADATA_POINTER)?.subarray(32, 64);
  const elsewhere =
    pointed?.length === 32 && pointed.some((byte) => byte !== 0) && Buffer.compare(pointed, address) !== 0;
  const own = elsewhere ? undefined : extensions.get(TOKEN_METADATA);
  return {
    supply: view.getBigUint64(36, true),
    decimals: data[44] as number,
    metadata: own === undefined ? null : metadataOf(own, address),
    metadataPointer: elsewhere ? (pointed as Uint8Array) : null,
  };
}

/** Metadata of a mint, or null where it does not decode or names another mint. */
function metadataOf(value: Uint8Array, mint: Uint8Array): TokenMetadata | null {
  try {
    const metadata = decodeTokenMetadata(value);
    return Buffer.compare(metadata.mint, mint) === 0 ? metadata : null;
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}

/**
 * Reads metadata kept in an account of its own: a mint-like account with the extension, or the bare value behind an
 * 8-byte discriminator and a u32 length.
 * @throws MalformedError where neither is there.
 */
export function decodeMetadataAccount(data: Uint8Array): TokenMetadata {
  if (tokenProgramKind(data) === 'mint') {
    const value = readExtensions(data).get(TOKEN_METADATA);
    if (value === undefined) throw new MalformedError('metadata account', 'a mint without metadata');
    return decodeTokenMetadata(value);
  }
  if (data.length < 12) throw new MalformedError('metadata account', `${data.length} bytes`);
  const length = new DataView(data.buffer, data.byteOffset, data.length).getUint32(8, true);
  return decodeTokenMetadata(data.subarray(12, 12 + length));
}

/** Type, length and value from byte 166 on; ends at the first empty or cut entry. */
function readExtensions(data: Uint8Array): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  if (data.length < TLV_AT) return found;
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  for (let at = TLV_AT; at + 4 <= data.length; ) {
    const type = view.getUint16(at, true);
    const end = at + 4 + view.getUint16(at + 2, true);
    if (type === 0 || end > data.length) break;
    if (!found.has(type)) found.set(type, data.subarray(at + 4, end));
    at = end;
  }
  return found;
}

function decodeTokenMetadata(value: Uint8Array): TokenMetadata {
  if (value.length < 76) throw new MalformedError('token metadata', `${value.length} bytes`);
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  let at = 64;
  const text = (field: string): string => {
    const length = at + 4 <= value.length ? view.getUint32(at, true) : MAX_TEXT + 1;
    if (length > MAX_TEXT || at + 4 + length > value.length) {
      throw new MalformedError('token metadata', `${field} goes past the end or over ${MAX_TEXT} bytes`);
    }
    const bytes = value.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    try {
      // Recorded mints end a uri with a zero character, which is padding and no part of the address.
      return UTF8.decode(bytes).replaceAll('\0', '');
    } catch {
      throw new MalformedError('token metadata', `${field} is not UTF-8`);
    }
  };
  return { mint: value.subarray(32, 64), name: text('name'), symbol: text('symbol'), uri: text('uri') };
}
