import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import idl from '../../schemas/bankroll.idl.json' with { type: 'json' };
import type { AccountType } from '../../schemas/program/account-fields.ts';
import { type FieldType, fieldsOf, type ScalarType } from '../../schemas/program/idl.ts';

const hashed = (text: string): number[] => [...createHash('sha256').update(text).digest().subarray(0, 8)];

/**
 * Offset of each account field, with empty strings before it. A new field must come after these: accounts on chain have
 * them at these offsets.
 */
const PLACES: Record<AccountType, string> = {
  ProtocolConfig: `
    admin 8, reporter 40, fee_destination 72, launchpad_program 104, amm_program 136, paused 168,
    protocol_fee_bps 169, max_bankroll_bps 171, max_deviation_bps 173, max_remote_staleness 175,
    min_risk_for_class 183, bump 191, end 192`,
  Origin: 'id 8, name 10, asset_class_mask 14, max_risk 15, bump 16, end 17',
  Model: 'id 8, name 10, provider 14, enabled 18, registered_at 19, bump 27, end 28',
  Policy: `
    mint 8, quote_mint 40, fee_key_mint 72, authority 104, agent 136, guardian 168, origin 200,
    origin_id 232, mode 234, model_id 235, to_lp_bps 237, to_bankroll_bps 239, profit_to_lp_bps 241,
    profit_to_holders_bps 243, profit_to_bankroll_bps 245, risk 247, target_asset 248,
    target_leverage_x 280, locked 281, paused 282, fees_claimed 283, protocol_fees 291, routed_to_lp 299,
    routed_to_bankroll 307, profit_swept 315, paid_to_holders 323, tokens_burned 331, credit_spent 339,
    hwm 347, venue_count 355, created_at 357, bump 365, end 366`,
  VenueAccount: `
    policy 8, token_account 40, asset_mint 72, kind 104, asset_class 105, revoked 106,
    remote_account 107, remote_equity 139, remote_notional 147, remote_asof 155, bridged_out 163, bump 171, end 172`,
};
const SIZES: Record<ScalarType, number> = {
  ...{ pubkey: 32, string: 4, bool: 1, u8: 1, u16: 2, u32: 4, u64: 8, i64: 8 },
};
const sizeOf = (type: FieldType) => (typeof type === 'string' ? SIZES[type] : type.array[1]);

describe('the IDL', () => {
  test('has discriminators that are hashes of the account, event and instruction names', () => {
    for (const { name, discriminator } of idl.accounts)
      expect(discriminator).toEqual(hashed(`account:${name}`));
    for (const { name, discriminator } of idl.events) expect(discriminator).toEqual(hashed(`event:${name}`));
    for (const { name, discriminator } of idl.instructions)
      expect(discriminator).toEqual(hashed(`global:${name}`));
  });

  test('has every account field at the offset where accounts on chain have it', () => {
    for (const [account, listed] of Object.entries(PLACES)) {
      const places = listed.trim().split(/,\s+/);
      let end = 8;
      const now = fieldsOf(account).map(({ name, type }) => {
        end += sizeOf(type);
        return `${name} ${end - sizeOf(type)}`;
      });
      expect([...now, `end ${end}`], account).toEqual(places);
    }
  });

  test('begins every event of a policy with the policy, its mint and its quote asset', () => {
    const heads = idl.events
      .filter(({ name }) => name !== 'ProtocolPaused')
      .map(({ name }) => [name, idl.types.find((type) => type.name === name)?.type.fields.slice(0, 3)]);
    const head = ['policy', 'mint', 'quote_mint'].map((name) => ({ name, type: 'pubkey' }));
    for (const [name, fields] of heads) expect(fields, `the head of ${name}`).toEqual(head);
  });

  test('has a type for every account and event, and docs that name every event or say "emits nothing"', () => {
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
