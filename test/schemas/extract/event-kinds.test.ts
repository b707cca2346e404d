import { expect, test } from 'vitest';
import idl from '../../../schemas/bankroll.idl.json' with { type: 'json' };
import { POSITIONS_PER_CALL, positionOf } from '../../../schemas/extract/groups.ts';
import { POLICY_RULES, PROTOCOL_RULES } from '../../../schemas/extract/rules.ts';
import { EVENT_KINDS, type EventKind } from '../../../schemas/program/event-kinds.ts';
import { camelCase, EVENTS, fieldsOf, INSTRUCTIONS_WITH_EVENT } from '../../../schemas/program/idl.ts';

const KINDS = Object.keys(EVENT_KINDS) as EventKind[];
const emitting = [...INSTRUCTIONS_WITH_EVENT.values()];

test('EVENT_KINDS lists exactly the events of the IDL', () => {
  expect([...EVENTS.values()].sort()).toEqual([...KINDS].sort());
});

test('each event kind keeps its code forever, so that derived events keep the positions they are stored at', () => {
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

test('the actors of an event kind are the signers of the instructions that emit it', () => {
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

test('every instruction that emits an event has exactly one rule for deriving it from cut logs', () => {
  const rules = [...Object.keys(POLICY_RULES), ...Object.keys(PROTOCOL_RULES)];
  expect(rules.sort()).toEqual(emitting.map(({ name }) => name).sort());
});

test('toldBy names exactly the event fields that repeat an argument of the instruction, with the same type', () => {
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
