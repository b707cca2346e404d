import { expect, test } from 'vitest';
import {
  ACCOUNT_FIELDS,
  type FieldKind,
  type Served,
  storedFields,
} from '../../../schemas/program/account-fields.ts';
import type { RankingsResponse } from '../../../schemas/responses/rankings.ts';
import {
  appliedRow,
  key,
  mintRow,
  modelRow,
  originRow,
  policyRow,
  poolKey,
  TIME,
  venueAccountRow,
} from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('origins', [originRow(1, 'an origin')]);
  await api.insert('models', [modelRow(7, 'a model')]);
  await api.insert('mints', [mintRow('usd', 6)]);
  await api.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
});

/** Another valid value of a field; it may have no value yet if its column was added later. */
const OTHERS: Record<FieldKind, (value: unknown) => unknown> = {
  key: () => key('another'),
  keyOrNone: () => null,
  hex: () => 'ab'.repeat(32),
  numbers: (value) => (value as number[]).map((one) => one + 1),
  text: (value) => `${value}!`,
  flag: (value) => 1 - Number(value ?? 0),
  number: (value) => Number(value ?? 0) + 1,
  amount: (value) => String(BigInt((value ?? 0) as string) + 1n),
  mode: () => 'Passive',
  venueKind: () => 'Local',
};
/** Another asset class: a class is a single bit. */
const OTHER_CLASS = 32;
/** Values that must not be served where a row lacks the field. */
const ZEROS: Partial<Record<FieldKind, 0>> = { flag: 0, number: 0, amount: 0 };

/** A policy with an account at a venue. */
const rowsOf = (name: string) => ({
  Policy: policyRow(name, 'usd', { mode: 'Agent', agent: key('agent'), venue_count: 1 }),
  VenueAccount: venueAccountRow(name, 'remote', { remote_asof: TIME }),
});
type Rows = ReturnType<typeof rowsOf>;

const OWN = ['mint', 'address', 'bankroll', 'quote_escrow', 'base_escrow', 'holder_rewards'];

/** The answers about a policy, with its own addresses replaced by column names so that policies compare. */
async function answersOf(name: string, { Policy }: Rows): Promise<Record<string, string>> {
  const made = rowsOf(name);
  const own = OWN.map((column) => [String(made.Policy[column]), column] as const);
  own.push([poolKey(name, 'usd'), 'pool'], [String(made.VenueAccount.address), 'venue account']);
  const read = async (path: string) => (await held.api.get(path)).text;
  const answers: Record<string, string> = {};
  for (const path of ['', '/positions', '/fees', '/loop', '/holders'])
    answers[`/coins/:mint${path}`] = await read(`/coins/${key(name)}${path}`);
  const { items } = JSON.parse(await read('/rankings?limit=200')) as RankingsResponse;
  answers['/rankings'] = JSON.stringify({ ...items.find(({ mint }) => mint === Policy.mint), rank: 0 });
  for (const [path, text] of Object.entries(answers))
    answers[path] = own.reduce((called, [address, as]) => called.replaceAll(address, as), text);
  return answers;
}

test.each(['Policy', 'VenueAccount'] as const)(
  'every stored field of %s changes some response, unless it is declared as served nowhere',
  async (type) => {
    const fields: Record<string, readonly [FieldKind, Served, ...unknown[]]> = ACCOUNT_FIELDS[type];
    const changes = storedFields(type).flatMap(({ column, kind, added }): [string, unknown][] => {
      const other = column === 'asset_class' ? OTHER_CLASS : OTHERS[kind](rowsOf('one')[type][column]);
      const zero = added ? ZEROS[kind] : undefined;
      return zero === undefined
        ? [[column, other]]
        : [
            [column, other],
            [column, zero],
          ];
    });
    const policies = changes.map(([column, value], at) => {
      const name = `policy ${at}`;
      const rows = rowsOf(name);
      return { name, column, value, rows: { ...rows, [type]: { ...rows[type], [column]: value } } };
    });
    const [one, alike] = [rowsOf('one'), rowsOf('alike')];
    const all = [one, alike, ...policies.map(({ rows }) => rows)];
    await held.api.insert(
      'policies',
      all.map(({ Policy }) => Policy),
    );
    await held.api.insert(
      'venue_accounts',
      all.map(({ VenueAccount }) => VenueAccount),
    );
    const unchanged = await answersOf('one', one);
    expect(await answersOf('alike', alike)).toEqual(unchanged);
    const wrong: unknown[] = [];
    for (const { name, column, value, rows } of policies) {
      const answers = await answersOf(name, rows);
      const places = Object.keys(unchanged).filter((path) => answers[path] !== unchanged[path]);
      const served = fields[column]?.[1];
      if ((places.length === 0) !== (served === 'nowhere')) wrong.push({ column, value, served, places });
    }
    expect(wrong).toEqual([]);
  },
);
