import { bytesOf } from '../program/state/keys.ts';
import { TOKEN_2022_PROGRAM } from '../program/state/known-programs.ts';
import type { MetadataAccount, Mint, TokenAccount, TokenMetadata } from '../program/state/state.ts';

const MINT_SIZE = 82;
const TOKEN_ACCOUNT_SIZE = 165;
const MULTISIG_SIZE = 355;
const ACCOUNT_TYPE = { mint: 1, account: 2 };
const EXTENSION = { immutableOwner: 7, metadataPointer: 18, tokenMetadata: 19, unheardOf: 4242 };
/** Hash of `spl_token_metadata_interface:token_metadata`: the first bytes of a metadata account. */
const METADATA_INTERFACE = Buffer.from('70845a5a0b589d57', 'hex');
const STATE_OFFSET = 108;

function extension(type: number, value: Uint8Array): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(value.length, 2);
  return Buffer.concat([head, value]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([size, bytes]);
}

/** TokenMetadata: authority, mint, three texts, and no further fields. */
function metadataBytes(mint: string, metadata: TokenMetadata): Buffer {
  return Buffer.concat([
    bytesOf(mint),
    bytesOf(mint),
    text(metadata.name),
    text(metadata.symbol),
    text(metadata.uri),
    Buffer.alloc(4),
  ]);
}

/** A mint account of either token program; its extensions follow the padding to a token account's size. */
export function mintData(mint: Mint): Uint8Array {
  const base = Buffer.alloc(MINT_SIZE);
  base.writeBigUInt64LE(mint.supply, 36);
  base.writeUInt8(mint.decimals, 44);
  base.writeUInt8(1, 45);
  const extensions: Buffer[] = [];
  if (mint.metadataPointer !== null) {
    const pointer = Buffer.concat([bytesOf(mint.address), bytesOf(mint.metadataPointer)]);
    extensions.push(extension(EXTENSION.metadataPointer, pointer));
  }
  if (mint.unknownExtension) extensions.push(extension(EXTENSION.unheardOf, Buffer.alloc(24, 7)));
  if (mint.metadata !== null) {
    extensions.push(extension(EXTENSION.tokenMetadata, metadataBytes(mint.address, mint.metadata)));
  }
  if (extensions.length === 0) return new Uint8Array(base);
  const padding = Buffer.alloc(TOKEN_ACCOUNT_SIZE - MINT_SIZE);
  const data = Buffer.concat([base, padding, Uint8Array.of(ACCOUNT_TYPE.mint), ...extensions]);
  // The token program lengthens what would otherwise be taken for a multisig account.
  const spare = Buffer.alloc(data.length === MULTISIG_SIZE ? 2 : 0);
  return new Uint8Array(Buffer.concat([data, spare]));
}

/** A token account of either token program. */
export function tokenAccountData(account: TokenAccount): Uint8Array {
  const extended = account.program === TOKEN_2022_PROGRAM;
  const data = Buffer.alloc(extended ? TOKEN_ACCOUNT_SIZE + 5 : TOKEN_ACCOUNT_SIZE);
  data.set(bytesOf(account.mint), 0);
  data.set(bytesOf(account.owner), 32);
  data.writeBigUInt64LE(account.amount, 64);
  data.writeUInt8(1, STATE_OFFSET);
  if (extended) {
    data.writeUInt8(ACCOUNT_TYPE.account, TOKEN_ACCOUNT_SIZE);
    data.writeUInt16LE(EXTENSION.immutableOwner, TOKEN_ACCOUNT_SIZE + 1);
  }
  return new Uint8Array(data);
}

/** Metadata in an account of its own, in the type-length-value form of the token metadata interface. */
export function metadataAccountData(account: MetadataAccount): Uint8Array {
  const value = metadataBytes(account.mint, account);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(value.length);
  return new Uint8Array(Buffer.concat([METADATA_INTERFACE, size, value]));
}
