import type { Address } from '@solana/kit';
import {
  AccountState,
  extension,
  getMintDecoder,
  getMintEncoder,
  getMultisigEncoder,
  getTokenDecoder,
  getTokenEncoder,
} from '@solana-program/token-2022';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../schemas/malformed.ts';
import { decodeKey, encodeBase58 } from '../../schemas/solana/base58.ts';
import {
  decodeMetadataAccount,
  decodeMint,
  decodeTokenAccount,
  tokenProgramKind,
} from '../../schemas/solana/token.ts';
import { anyKey, SEED } from './support/arbitraries.ts';
import { fixture } from './support/fixtures.ts';

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const text = (bytes: Uint8Array): Address => encodeBase58(bytes) as Address;
const [MINT, ELSEWHERE] = [key(21), key(22)] as [Uint8Array, Uint8Array];

const metadata = (mint = MINT, name = 'Ünïcode 🪙') =>
  extension('TokenMetadata', {
    updateAuthority: text(key(2)),
    mint: text(mint),
    name,
    symbol: 'ONE',
    uri: 'https://example.org/1.json',
    additionalMetadata: new Map([['key', 'value']]),
  });
const pointer = (to: Uint8Array) =>
  extension('MetadataPointer', { authority: null, metadataAddress: text(to) });

type Extensions = NonNullable<
  Parameters<ReturnType<typeof getMintEncoder>['encode']>[0]['extensions'] & unknown[]
>;

function mintBytes(extensions: Extensions | null): Uint8Array {
  return Uint8Array.from(
    getMintEncoder().encode({
      mintAuthority: null,
      supply: 7_000n,
      decimals: 6,
      isInitialized: true,
      freezeAuthority: null,
      extensions,
    }),
  );
}

describe('a mint', () => {
  test('without extensions has no metadata', () => {
    expect(decodeMint(mintBytes(null), MINT)).toEqual({
      decimals: 6,
      supply: 7_000n,
      metadata: null,
      metadataPointer: null,
    });
  });

  test('with a metadata extension that names this mint has that metadata', () => {
    const { metadata: read } = decodeMint(mintBytes([pointer(MINT), metadata()]), MINT);
    expect(read).toEqual({
      mint: MINT,
      name: 'Ünïcode 🪙',
      symbol: 'ONE',
      uri: 'https://example.org/1.json',
    });
  });

  test('with a metadata extension that names another mint has no metadata', () => {
    expect(decodeMint(mintBytes([metadata(ELSEWHERE)]), MINT).metadata).toBeNull();
  });

  test('whose metadata pointer names another account gives that address and ignores its own metadata', () => {
    const read = decodeMint(mintBytes([pointer(ELSEWHERE), metadata()]), MINT);
    expect(read).toMatchObject({ metadata: null, metadataPointer: ELSEWHERE });
  });

  test('with an unknown extension is decoded, including the extensions after it', () => {
    const known = mintBytes([metadata()]);
    const unknown = Uint8Array.from([0x39, 0x30, 5, 0, 1, 2, 3, 4, 5]);
    const data = Uint8Array.from([...known.subarray(0, 166), ...unknown, ...known.subarray(166)]);
    expect(() => getMintDecoder().decode(data)).toThrow();
    expect(decodeMint(data, MINT)).toMatchObject({ supply: 7_000n, metadata: { symbol: 'ONE' } });
  });

  test('keeps its supply and decimals when its metadata is cut short or not UTF-8', () => {
    const data = mintBytes([metadata(MINT, 'abcd')]);
    const broken = Uint8Array.from(data);
    broken[Buffer.from(data).indexOf('abcd')] = 0xff;
    for (const spoilt of [broken, data.subarray(0, data.length - 30)]) {
      expect(decodeMint(spoilt, MINT)).toMatchObject({ supply: 7_000n, decimals: 6, metadata: null });
    }
  });

  test('is malformed when it has the wrong size or is not initialised', () => {
    const empty = mintBytes(null);
    empty[45] = 0;
    for (const data of [new Uint8Array(0), new Uint8Array(81), new Uint8Array(164), empty]) {
      expect(() => decodeMint(data, MINT)).toThrow(MalformedError);
    }
  });
});

describe('metadata in an account of its own', () => {
  test('is read from an account laid out as a mint and from one that holds the bare value', () => {
    const mint = mintBytes([metadata()]);
    expect(decodeMetadataAccount(mint)).toMatchObject({ mint: MINT, symbol: 'ONE' });
    const value = mint.subarray(166 + 4);
    const bare = Buffer.concat([Buffer.alloc(8, 3), Buffer.alloc(4), value]);
    bare.writeUInt32LE(value.length, 8);
    expect(decodeMetadataAccount(bare)).toMatchObject({ symbol: 'ONE' });
  });

  test('is malformed in an account of any other layout', () => {
    for (const data of [new Uint8Array(0), new Uint8Array(40), mintBytes([pointer(ELSEWHERE)])]) {
      expect(() => decodeMetadataAccount(data)).toThrow(MalformedError);
    }
  });
});

describe('a token account', () => {
  const bytes = (over: { amount?: bigint; state?: AccountState } = {}): Uint8Array =>
    Uint8Array.from(
      getTokenEncoder().encode({
        mint: text(MINT),
        owner: text(key(3)),
        amount: 5n,
        delegate: null,
        state: AccountState.Initialized,
        isNative: null,
        delegatedAmount: 0n,
        closeAuthority: null,
        extensions: null,
        ...over,
      }),
    );

  test("decodes to the same mint, owner and amount as with the token program's own client", () => {
    fc.assert(
      fc.property(anyKey, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (mint, amount) => {
        const data = bytes({ amount });
        data.set(mint);
        const theirs = getTokenDecoder().decode(data);
        const { mint: ours, owner, amount: read } = decodeTokenAccount(data);
        expect([text(ours), text(owner), read]).toEqual([theirs.mint, theirs.owner, theirs.amount]);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  test('is decoded when frozen; uninitialised, or with the bytes of a mint, it is malformed', () => {
    expect(decodeTokenAccount(bytes({ state: AccountState.Frozen })).amount).toBe(5n);
    expect(() => decodeTokenAccount(bytes({ state: AccountState.Uninitialized }))).toThrow(MalformedError);
    expect(() => decodeTokenAccount(mintBytes(null))).toThrow(MalformedError);
  });
});

test('a multisig is neither a mint nor a token account, whatever its signers put where the type byte is', () => {
  const signers = Array.from({ length: 11 }, () => text(key(1)));
  for (const type of [1, 2]) {
    const data = Uint8Array.from(getMultisigEncoder().encode({ m: 2, n: 11, isInitialized: true, signers }));
    // A token account has its state where one signer's key lies, and an extended account its type where another's lies.
    data[165] = type;
    expect([data.length, data[45], data[108]]).toEqual([355, 1, 1]);
    expect(tokenProgramKind(data)).toBeNull();
    expect(() => decodeTokenAccount(data)).toThrow(MalformedError);
    expect(() => decodeMint(data, MINT)).toThrow(MalformedError);
  }
});

test('random token program data decodes or throws MalformedError, and its type byte and size tell its kind', () => {
  const anyData = fc.tuple(
    fc.constantFrom(82, 165, 166, 170, 300, 355),
    fc.uint8Array({ minLength: 400, maxLength: 400 }),
  );
  fc.assert(
    fc.property(anyData, fc.constantFrom(0, 1, 2), ([length, noise], type) => {
      const data = noise.slice(0, length);
      if (length > 165) data[165] = type;
      for (const decode of [
        decodeTokenAccount,
        decodeMetadataAccount,
        (bytes: Uint8Array) => decodeMint(bytes, MINT),
      ]) {
        try {
          decode(data);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedError);
        }
      }
      const kind = length === 355 ? null : [null, 'mint', 'account'][type];
      if (length > 165) expect(tokenProgramKind(data)).toBe(kind);
    }),
    { seed: SEED, numRuns: 3000 },
  );
});

interface Recorded {
  address: string;
  dataBase64: string;
}

test("recorded mints decode to the same values as with the token program's own client", () => {
  for (const name of ['launched', 'quote']) {
    const { accounts } = fixture(`token2022/${name}-mints.json`) as { accounts: Recorded[] };
    for (const { address, dataBase64 } of accounts) {
      const data = Buffer.from(dataBase64, 'base64');
      const ours = decodeMint(data, decodeKey(address) as Uint8Array);
      const theirs = getMintDecoder().decode(data);
      expect([ours.supply, ours.decimals]).toEqual([theirs.supply, theirs.decimals]);
      const extensions = theirs.extensions.__option === 'Some' ? theirs.extensions.value : [];
      const named = extensions.find((one) => one.__kind === 'TokenMetadata');
      expect([ours.metadata?.name, ours.metadata?.symbol, ours.metadata?.uri]).toEqual([
        named?.name,
        named?.symbol,
        named?.uri,
      ]);
    }
  }
});
