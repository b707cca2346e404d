import { expect, test } from 'vitest';
import { protocol } from '../../devnet/life/governance.ts';
import { officials } from '../../devnet/life/setup.ts';
import type { World } from '../../devnet/life/world.ts';
import { createRandom } from '../../devnet/program/state/random.ts';

const DEPLOYED = { protocolFeeBps: 500, maxRemoteStaleness: 120n, maxDeviationBps: 2000 };
/** Above what the program allows: it is refused and changes nothing. */
const REFUSED = { protocolFeeBps: 2001 };

/** The parameters that the chain's admin writes one after the other. */
function written(keepsParams: boolean): object[] {
  const world = { random: createRandom('params 1'), who: officials('params 1'), keepsParams } as World;
  const actions = Array.from({ length: 500 }, () => protocol(world)).flat();
  const all = actions.flatMap((action) => (action.kind === 'set_protocol_params' ? [action.params] : []));
  return all.filter(({ protocolFeeBps }) => protocolFeeBps !== REFUSED.protocolFeeBps);
}

test('the admin of the local chain writes the deployed parameters alone, where it keeps to them', () => {
  const kept = written(true);
  for (const params of kept) expect(DEPLOYED).toMatchObject(params);
  for (const name of Object.keys(DEPLOYED))
    expect(
      kept.some((params) => Object.hasOwn(params, name)),
      name,
    ).toBe(true);
  expect(
    written(false).some(
      (params) =>
        !Object.entries(params).every(([name, value]) => DEPLOYED[name as keyof typeof DEPLOYED] === value),
    ),
  ).toBe(true);
});
