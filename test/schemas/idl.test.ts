import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import idl from '../../schemas/bankroll.idl.json' with { type: 'json' };

const hashed = (text: string): number[] => [...createHash('sha256').update(text).digest().subarray(0, 8)];

describe('the IDL', () => {
  test('has the discriminators that follow from the names', () => {
    for (const { name, discriminator } of idl.accounts)
      expect(discriminator).toEqual(hashed(`account:${name}`));
    for (const { name, discriminator } of idl.events) expect(discriminator).toEqual(hashed(`event:${name}`));
    for (const { name, discriminator } of idl.instructions)
      expect(discriminator).toEqual(hashed(`global:${name}`));
  });

  test('begins every event of a policy with the policy, its mint and its quote asset', () => {
    const heads = idl.events
      .filter(({ name }) => name !== 'ProtocolPaused')
      .map(({ name }) => [name, idl.types.find((type) => type.name === name)?.type.fields.slice(0, 3)]);
    const head = ['policy', 'mint', 'quote_mint'].map((name) => ({ name, type: 'pubkey' }));
    for (const [name, fields] of heads) expect(fields, `the head of ${name}`).toEqual(head);
  });

  test('has a type for every account and event, and says of every instruction what it emits', () => {
    const types = idl.types.map(({ name }) => name).sort();
    expect([...idl.accounts, ...idl.events].map(({ name }) => name).sort()).toEqual(types);
    const emitted = idl.instructions.flatMap(({ docs }) =>
      docs.flatMap((line) => line.match(/[A-Z]\w+/g) ?? []),
    );
    expect([...new Set(emitted)].sort()).toEqual(idl.events.map(({ name }) => name).sort());
    const silent = idl.instructions
      .filter(({ docs }) => docs.includes('emits nothing'))
      .map(({ name }) => name);
    expect(silent.sort()).toEqual([
      'compound_lp',
      'register_model',
      'register_origin',
      'set_protocol_params',
    ]);
  });
});
