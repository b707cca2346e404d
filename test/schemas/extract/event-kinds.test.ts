import { expect, test } from 'vitest';
import idl from '../../../schemas/bankroll.idl.json' with { type: 'json' };
import { POSITIONS_PER_CALL, positionOf } from '../../../schemas/extract/groups.ts';
import { POLICY_RULES, PROTOCOL_RULES } from '../../../schemas/extract/rules.ts';
import { EVENT_KINDS, type EventKind } from '../../../schemas/program/event-kinds.ts';
import { camelCase, EVENTS, fieldsOf, INSTRUCTIONS_WITH_EVENT } from '../../../schemas/program/idl.ts';

const KINDS = Object.keys(EVENT_KINDS) as EventKind[];
const emitting = [...INSTRUCTIONS_WITH_EVENT.values()];

test('the IDL has the kinds of events that something is known of, and no other', () => {
  expect([...EVENTS.values()].sort()).toEqual([...KINDS].sort());
});

test('derived events are stored where they always were: a code is of one kind, for good', () => {
  const codes = KINDS.map((kind) => EVENT_KINDS[kind].code);
  expect(codes.toSorted((one, other) => one - other)).toEqual(codes.map((_, at) => at));
  expect(Math.max(...codes)).toBeLessThan(POSITIONS_PER_CALL);
  expect(positionOf('FeesClaimed', 0)).toBe(0x8000);
  expect(positionOf('ProtocolPaused', 3)).toBe(0x8000 + 3 * 32 + 16);
  expect(KINDS.toSorted((one, other) => EVENT_KINDS[one].code - EVENT_KINDS[other].code)).toEqual([
    ...['FeesClaimed', 'Routed', 'ProfitSwept', 'BuybackBurned', 'BaseLegBurned', 'PassiveDeployed'],
    ...['AgentFundedVenue', 'CreditNoted', 'PolicyInitialised', 'VenueRegistered', 'VenueRevoked'],
    ...[
      'RemoteEquityReported',
      'AgentSet',
      'PolicyUpdated',
      'PolicyLocked',
      'PolicyPaused',
      'ProtocolPaused',
    ],
  ]);
});

test('the actor of an event is who signs an instruction that emits it', () => {
  for (const kind of KINDS) {
    const { actor } = EVENT_KINDS[kind];
    const actors =
      typeof actor === 'string'
        ? [actor]
        : ['authority', 'guardian', 'attestation'].map((by) => actor({ by }));
    const signers = idl.instructions
      .filter(({ docs }) => docs.some((line) => line.split(/\W+/).includes(kind)))
      .flatMap(({ accounts }) => accounts.filter((account) => 'signer' in account).map(({ name }) => name));
    expect([...new Set(signers)].sort(), kind).toEqual([...new Set<string>(actors)].sort());
  }
});

test('where logs are cut every instruction that emits is told by a rule, and by one', () => {
  const rules = [...Object.keys(POLICY_RULES), ...Object.keys(PROTOCOL_RULES)];
  expect(rules.sort()).toEqual(emitting.map(({ name }) => name).sort());
});

test('what an event repeats is an argument and a field, of that type', () => {
  for (const kind of KINDS) {
    for (const [instruction, names] of Object.entries<readonly string[]>(EVENT_KINDS[kind].toldBy ?? {})) {
      const { args, emits } = emitting.find(({ name }) => name === instruction) ?? { args: [], emits: [] };
      expect(emits[0], instruction).toBe(kind);
      const typeOf = (fields: typeof args, name: string) =>
        fields.find((field) => camelCase(field.name) === name)?.type;
      const repeated = args.map(({ name }) => camelCase(name)).filter((name) => typeOf(fieldsOf(kind), name));
      expect(names, instruction).toEqual(repeated);
      for (const name of names)
        expect(typeOf(args, name), `${instruction}.${name}`).toEqual(typeOf(fieldsOf(kind), name));
    }
  }
});
