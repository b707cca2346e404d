import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import { openRecordFile } from '../../devnet/chain/storage.ts';
import { createLife } from '../../devnet/life/life.ts';
import { INSTRUCTIONS } from '../../devnet/program/actions.ts';
import type { EventKind } from '../../devnet/program/state/events.ts';
import { LAYOUT_NAME, LAYOUT_OF_FORMAT_1 } from '../../devnet/program/state/layout-name.ts';
import { ACCOUNT_LAYOUTS, EVENT_LAYOUTS, type Layout } from '../../devnet/program/state/layouts.ts';
import idl from '../../schemas/bankroll.idl.json' with { type: 'json' };
import { DEVNET_PROGRAM_ID } from '../../schemas/program/devnet-program.ts';
import {
  camelCase,
  discriminatorOf,
  type FieldType,
  fieldsOf,
  INSTRUCTIONS_WITH_EVENT,
} from '../../schemas/program/idl.ts';
import { fieldsReader } from '../../schemas/program/struct.ts';

const GENESIS = 1_760_000_000_000;

/** As the chain's layouts write types; 32 bytes are written as a key is. */
function scalarOf(type: FieldType): string {
  if (typeof type === 'string') return type;
  return type.array[1] === 32 ? 'pubkey' : `u8x${type.array[1]}`;
}

const LAYOUTS: [string, Layout][] = [...Object.entries(ACCOUNT_LAYOUTS), ...Object.entries(EVENT_LAYOUTS)];

describe('the byte layouts of the devnet program', () => {
  test('there is a layout for exactly the accounts and events of the IDL', () => {
    const names = [...idl.accounts, ...idl.events].map(({ name }) => name);
    expect(LAYOUTS.map(([name]) => name).sort()).toEqual(names.sort());
  });

  test.each(LAYOUTS)('%s has the fields that the IDL has, in order', (name, layout) => {
    expect(Object.entries(layout)).toEqual(
      fieldsOf(name).map((field) => [camelCase(field.name), scalarOf(field.type)]),
    );
  });

  test('every instruction of the IDL is implemented', () => {
    expect(Object.keys(INSTRUCTIONS)).toEqual(
      expect.arrayContaining(idl.instructions.map(({ name }) => name)),
    );
  });

  test('a seeded chain emits every kind of event, and its instruction data holds the arguments of the IDL', async () => {
    const chain = createChain({ dir: null, seed: 'layouts 1', genesisTime: GENESIS });
    const life = createLife(chain, { seed: 'layouts 1', policies: 10, rate: 6 });
    const missing = new Set(Object.keys(EVENT_LAYOUTS) as EventKind[]);
    for (let made = 0; made < 2_000 && missing.size > 0; made += 1) {
      const { transactions } = await chain.produce(life.next());
      for (const { events, message, inner } of transactions) {
        for (const { kind } of events) missing.delete(kind);
        for (const { data } of [message, ...inner].flatMap(({ instructions }) => instructions)) {
          const found = INSTRUCTIONS_WITH_EVENT.get(discriminatorOf(data));
          if (found !== undefined) expect(() => fieldsReader(found.name, found.args)(data)).not.toThrow();
        }
      }
    }
    expect([...missing]).toEqual([]);
  });
});

describe('a ledger in a directory', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'ledger-format-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const head = { seed: 'format', programId: DEVNET_PROGRAM_ID, genesisMs: GENESIS, firstSlot: 1n };
  const open = () => createChain({ dir, seed: 'format', genesisTime: GENESIS });
  const begin = (more: object) => {
    const records = openRecordFile(dir, 'ledger.bin');
    records.append({ ...head, ...more });
    records.close();
  };

  test('of format 1, which names no byte layout, counts as written in the original one', () => {
    begin({ format: 1 });
    if (LAYOUT_NAME === LAYOUT_OF_FORMAT_1) expect(open().tip().slot).toBe(1n);
    else expect(open).toThrow('another byte layout');
  });

  test('that was written in another byte layout is refused, and the error says what to remove', () => {
    begin({ format: 2, layout: 'another' });
    expect(open).toThrow(
      /holds a chain whose program has another byte layout: remove it with the index and the log that are of that chain/,
    );
  });
});
