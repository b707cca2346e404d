import { deploy } from './support/deployment.ts';
import { atRate, createSender } from './support/http-load.ts';
import { percentile } from './support/percentile.ts';
import type { Row } from './support/row.ts';

const READS_PER_SECOND = 10;
const TURN_SECONDS = 20;
const MOST = 1.2;
/** Routes below /coins/:mint, each read from the store that the audit reads too. */
const ROUTES = ['', '/fees', '/loop', '/positions', '/activity'];

type Read = (path: string) => Promise<{ status: number; text: string; ms: number }>;

async function everyMint(read: Read): Promise<string[]> {
  const mints: string[] = [];
  for (;;) {
    const { text } = await read(`/rankings?limit=200&offset=${mints.length}`);
    const page = JSON.parse(text) as { items: { mint: string }[]; hasMore: boolean };
    mints.push(...page.items.map(({ mint }) => mint));
    if (!page.hasMore) return mints;
  }
}

/** Measures readers of a live system, in turns beside an audit and without one. */
export async function benchAudit(turns: number): Promise<Row[]> {
  const { url, env, cast, stop } = await deploy({ policies: '300', history: '3000', seed: 'audit' });
  const { send, close } = createSender();
  try {
    const read: Read = (route) => send(`${url}${route}`);
    const mints = await everyMint(read);

    const turn = async (): Promise<number[]> => {
      const took: number[] = [];
      await atRate(READS_PER_SECOND, TURN_SECONDS, async (n) => {
        const mint = mints[Math.floor(n / ROUTES.length) % mints.length];
        const { status, ms } = await read(`/coins/${mint}${ROUTES[n % ROUTES.length]}`);
        if (status !== 200) throw new Error(`a read was answered with ${status}`);
        took.push(ms);
      });
      return took;
    };
    const alone: number[] = [];
    const beside: number[] = [];
    let audits = 0;
    const turnBeside = async (): Promise<number[]> => {
      let isOver = false;
      const auditing = (async () => {
        while (!isOver) {
          await cast.once('ingest/commands/audit.ts', env);
          audits += 1;
        }
      })();
      const reading = turn().finally(() => {
        isOver = true;
      });
      await Promise.all([reading, auditing]);
      return reading;
    };
    await turn();
    for (let round = 0; round < turns; round += 1) {
      // The order alternates, so that a drift of the machine affects both.
      const order = round % 2 === 0 ? [alone, beside] : [beside, alone];
      for (const list of order) list.push(...(await (list === alone ? turn() : turnBeside())));
    }
    for (const list of [alone, beside]) list.sort((a, b) => a - b);
    const ratio = percentile(beside, 0.99) / percentile(alone, 0.99);
    const told = (list: readonly number[]) =>
      `${percentile(list, 0.5).toFixed(1)} · ${percentile(list, 0.99).toFixed(1)}`;
    return [
      { name: 'audits of 300 policies that found nothing', value: String(audits), ok: null },
      { name: 'reads alone, median · p99, ms', value: told(alone), ok: null },
      { name: 'reads beside an audit, median · p99, ms', value: told(beside), ok: null },
      { name: `p99 beside over alone (bar ${MOST})`, value: ratio.toFixed(2), ok: ratio <= MOST },
    ];
  } finally {
    close();
    await stop();
  }
}
