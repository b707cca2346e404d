import { expect, test } from 'vitest';
import { appliedRow, key, mintRow } from '../api/support/rows.ts';
import { useApi } from '../api/support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await api.insert('mints', [mintRow('six', 6), mintRow('none', 0)]);
});
const ask = (mints: readonly string[]) => held.api.get(`/explorer/decimals?mints=${mints.join()}`);

test('one answer has the decimals of all tokens of a page, and null for an unknown token', async () => {
  const mints = [key('six'), key('none'), key('unknown')];
  const { status, body } = await ask([...mints, key('six')]);
  expect([status, body]).toEqual([200, { [key('six')]: 6, [key('none')]: 0, [key('unknown')]: null }]);
});

test('more than 100 tokens, none, and texts that are not public keys are a 400', async () => {
  const many = Array.from({ length: 101 }, (_, at) => key(`mint ${at}`));
  expect((await ask(many.slice(1))).status).toBe(200);
  for (const mints of [many, [], ['constructor'], [key('six'), 'x'.repeat(50)]]) {
    const { status, body } = await ask(mints);
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/Valid: 100 public keys at most/) }]);
  }
});
