import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import { ANY } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { account, batchOf, key, logOf, PROGRAM, rawKey } from '../../ingest/materialise/support/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { mintRow, TIME } from '../support/rows.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

/** A token's metadata, as an account beside its mint holds it. */
function metadataBytes(mint: string, texts: readonly string[]): Uint8Array {
  const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
  const strings = texts.flatMap((text) => [u32(Buffer.byteLength(text)), Buffer.from(text)]);
  const value = Buffer.concat([Buffer.alloc(32), rawKey(mint), ...strings, u32(0)]);
  return Buffer.concat([Buffer.alloc(8, 3), u32(value.length), value]);
}

test('a metadata account that changes to another mint no longer names the first one, and names the other', async () => {
  const handOver = createHandOver();
  const clock = () => TIME * 1000;
  const memory = createMemory({
    ...{ store, feed: handOver, clock, monotonic: () => 0, maxBytes: 10_000_000 },
  });
  let told: string[] = [];
  const materialise = createMaterialiser({
    ...{ store, programId: PROGRAM, onApplied: handOver.applied },
    onChanged: (changes) => {
      told = [...(changes.get('metadata_accounts') ?? [])].sort();
      handOver.note(changes);
    },
  });
  const pointed = { metadata_pointer: key('metadata') };
  await store.insert('mints', [mintRow('one', 6, pointed), mintRow('other', 6, pointed)]);
  let writes = 0n;
  const names = async (mint: string | null) => {
    const data = mint === null ? new Uint8Array() : metadataBytes(mint, ['Moved', 'MV', 'https://m/1']);
    writes += 1n;
    const record = account('metadata', rawKey('any program'), data, {
      ...{ expected: 'metadata', writeVersion: writes, lamports: mint === null ? 0n : 1n },
    });
    await materialise(batchOf('accounts', logOf([record], writes - 1n)));
    await memory.turn();
    const { value } = await memory.read((view) => view.rows('mint', [key('one'), key('other')]));
    return ['one', 'other'].map((one) => value.get(key(one))?.symbol ?? null);
  };
  expect(await names('one')).toEqual(['MV', null]);
  expect(await names('other')).toEqual([null, 'MV']);
  expect(await names('one')).toEqual(['MV', null]);
  // An account that is made and closed again and again must not have all others read anew.
  expect(await names(null)).toEqual([null, null]);
  expect(told).not.toContain(ANY);
  expect(told).toContain(key('one'));
});
