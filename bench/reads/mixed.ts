import { dots, type Row } from '../support/row.ts';
import { mixed } from './paths.ts';
import { failedOf, load, type Side } from './sides.ts';

const CONNECTIONS = 16;
const SHARE = 0.6;
const UPDATES = 1_000;

/** As most languages' clients ask by themselves, and as a bare one does: then `/analytics` is 42 MB, one of 37 to 80 requests. */
const MANNERS = [
  {
    manner: 'gzip',
    headers: { 'Accept-Encoding': 'gzip, deflate' },
  },
  { manner: 'nothing packed', headers: {} },
];

/** Readers of all routes at a share of what they get at most, beside states that arrive and beside none. */
export async function* mixedReaders(
  side: Side,
  options: { policies: number; seconds: number },
): AsyncGenerator<Row> {
  const updates = (perSecond: number) => side.child.ask<object>({ ask: 'updates', perSecond });
  await updates(0);
  const { policies, seconds } = options;
  for (const { manner, headers } of MANNERS) {
    const asked = { paths: mixed(policies), connections: CONNECTIONS, seconds, headers };
    // The first readers have memory filled for all others.
    await load(side, asked);
    const { perSecond: most } = await load(side, asked);
    const rate = most * SHARE;
    const quiet = await load(side, { ...asked, rate });
    await updates(UPDATES);
    const beside = await load(side, { ...asked, rate });
    await updates(0);
    yield {
      name: `mixed readers (${manner}) at ${dots(rate)}/s, ${UPDATES} updates a second beside them`,
      value: `p99 ${dots(beside.p99)} ms; nothing arriving ${dots(quiet.p99)} ms: ${dots(beside.p99 / quiet.p99)} × (bar 2 ×)${failedOf(beside)}`,
      ok: beside.p99 <= 2 * quiet.p99 && beside.failed === 0,
    };
  }
}
