import { formatNumber, type Row } from '../support/row.ts';
import { mixed } from './paths.ts';
import { failedOf, load, type Side } from './sides.ts';

const CONNECTIONS = 16;
const SHARE = 0.6;
const UPDATES = 1_000;

/** Headers of most languages' clients, and of a bare one: there `/analytics` is 42 MB, one of 37 to 80 requests. */
const MANNERS = [
  {
    manner: 'gzip',
    headers: { 'Accept-Encoding': 'gzip, deflate' },
  },
  { manner: 'nothing packed', headers: {} },
];

/**
 * Measures readers of all routes at a share of the highest rate they get, while states arrive and while none do. That
 * rate is lower while states arrive, as each slot makes every page anew. A share of the rate without arriving states
 * may therefore be more than they can get while states arrive: that line has no bar.
 */
export async function* mixedReaders(
  side: Side,
  options: { policies: number; seconds: number },
): AsyncGenerator<Row> {
  const updates = (perSecond: number) => side.child.ask<object>({ ask: 'updates', perSecond });
  const { policies, seconds } = options;
  for (const { manner, headers } of MANNERS) {
    const asked = { paths: mixed(policies), connections: CONNECTIONS, seconds, headers };
    const beside = async (rate?: number) => {
      await updates(UPDATES);
      const loaded = await load(side, rate === undefined ? asked : { ...asked, rate });
      await updates(0);
      return loaded;
    };
    await updates(0);
    // The first readers fill the memory for all others; they are not measured.
    await load(side, asked);
    const most = { quiet: (await load(side, asked)).perSecond, beside: (await beside()).perSecond };
    for (const [isBarred, rate] of [
      [true, most.beside * SHARE],
      [false, most.quiet * SHARE],
    ] as const) {
      const quiet = await load(side, { ...asked, rate });
      const loaded = await beside(rate);
      const of = isBarred ? 'beside them' : 'beside none';
      yield {
        name: `mixed readers (${manner}) at ${formatNumber(rate)}/s, ${SHARE} of what they get ${of}; ${UPDATES} updates a second`,
        value: `p99 ${formatNumber(loaded.p99)} ms; nothing arriving ${formatNumber(quiet.p99)} ms: ${formatNumber(loaded.p99 / quiet.p99)} ×${isBarred ? ' (bar 2 ×)' : ''}${failedOf(loaded)}`,
        ok: isBarred ? loaded.p99 <= 2 * quiet.p99 && loaded.failed === 0 : null,
      };
    }
  }
}
