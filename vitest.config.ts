import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { Standing } from './test/support/standing.ts';

/** Files that begin first: begun last, one of them would run on alone at the end. */
const LONGEST = [
  'scenarios/exact',
  'kafka/frozen',
  'chaos/flaws',
  'scenarios/kill',
  'chaos/chaos',
  'scenarios/made-twice',
];

/** Files that mostly wait: one is begun after every few others, so that the cores are busy meanwhile. */
const WAITING = [
  'agent/rotation',
  'audit/command',
  'agent/refusals-identity',
  'project/secrets',
  'history/history',
  'agent/refusals-options',
  'clickhouse/embedded',
  'agent/refusals',
  'stream/outage',
  'clickhouse/migrate',
  'latest/lost-store',
];
const BETWEEN = 3;

/**
 * Whole systems that are cut, killed, replayed and compared, logs that are cut in every way, and other long tests. They
 * run in `npm run test:long`, and in `npm test` where it is given files or names. The scenario of every route (SHORT)
 * also runs in a plain `npm test`, with a chain that is a tenth as long.
 */
const LONG = [
  'test/scenarios/*.test.ts',
  'test/chaos/{chaos,flaws,hostile}.test.ts',
  'test/explorer/{browser,coin-page,protocol-page,ranking-page,status-age}.test.ts',
  'test/ingest/kafka/{frozen,stream}.test.ts',
  'test/ingest/audit/{live,found,not-comparable}.test.ts',
  'test/ingest/materialise/{decided,event-times,hours,interrupted,live,many-owners,named,settled-profits,two-slots}.test.ts',
  'test/ingest/operate/backfill.test.ts',
  'test/ingest/replay/{full,letters}.test.ts',
  'test/ingest/stream/stream-providers.test.ts',
  'test/api/latest/{change-feed,tallies}.test.ts',
  'test/api/rankings/ranking-order.test.ts',
  'test/devnet/{segments,segment-kills}.test.ts',
  'test/project/{secrets,services}.test.ts',
];
const SHORT = 'test/scenarios/exact.test.ts';
/** Whether files or test names were given: a test that is named runs, however long it takes. */
const isTold = process.argv.slice(2).some((word) => word !== 'run' && !word.startsWith('-'));

/**
 * Files that start nothing which outlives them: they run one after another in the same processes, where modules are
 * loaded and warm. Every other file has a process of its own, and so must one that changes process-wide state.
 */
const TOGETHER = [
  'test/{runtime,schemas}/**/*.test.ts',
  'test/devnet/!(pace).test.ts',
  'test/api/*.test.ts',
  'test/api/agent/{agent-changes,asked,flow,large-bodies,limits,shared-readings,signature,suspects,token-forms,venue-rest}.test.ts',
  'test/api/agent/client/{client-message,exposure-pages}.test.ts',
  'test/api/{coin,history,rankings}/*.test.ts',
  'test/api/http/!(floods).test.ts',
  'test/api/latest/{ahead,beside-owner,changed-rows,failed-turn,folded,handed-over,index-reads,moved-metadata,no-older,one-reading,put-back,ranked-rows,row-parts,slow-reads,switch,tallies,time-slices,too-many}.test.ts',
  'test/api/stream/{caught-up,client,failed-read,far-behind,gap-reminders,late-posts,missed,position,posts-away,ranking-questions,streams,taken-back,telling}.test.ts',
  'test/chaos/{observer,plan}.test.ts',
  'test/clickhouse/{activity-page,added-columns,announcer,coalesce,equal-inserts,half-answers,in-order,indexed-chain,indexed-program,log-partitions,missing-mark,places,profile,shared-reads,tables}.test.ts',
  // The address and the clock of a page are modules: `spans` needs its own.
  'test/explorer/!(browser|coin-page|protocol-page|ranking-page|spans|status-age).test.ts',
  'test/ingest/history/{gap-rows,swept-profit,unkind-lists,unread-again,wider-gap}.test.ts',
  'test/ingest/{log,materialise,poll,verify}/*.test.ts',
  'test/ingest/operate/{backfill-outcome,doctor-rpc}.test.ts',
  'test/ingest/stream/!(followed-stream|joined-reading|outage|renewed|unkind-names|unkind-server|watchdog).test.ts',
  'test/project/{closed-lists,compose,imports,lock,named-tests,readme,waits,watched}.test.ts',
];

const placeIn = (names: readonly string[], { moduleId }: TestSpecification): number =>
  names.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));

class Packed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification) => {
      const at = placeIn(LONGEST, file);
      return at === -1 ? LONGEST.length : at;
    };
    const sorted = (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
    const waiting = sorted
      .filter((file) => placeIn(WAITING, file) !== -1)
      .toSorted((a, b) => placeIn(WAITING, a) - placeIn(WAITING, b));
    const others = sorted.filter((file) => !waiting.includes(file));
    const packed = others.flatMap((file, at) =>
      at % BETWEEN === 0 ? [file, ...waiting.splice(0, 1)] : [file],
    );
    return [...packed, ...waiting];
  }
}

const standing = new Standing();

export default defineConfig({
  plugins: [
    {
      name: 'standing',
      // Added to whichever reporters are configured or given.
      configureVitest: ({ vitest: { config } }) => {
        if (!config.reporters.includes(standing)) config.reporters.push(standing);
      },
    },
  ],
  test: {
    projects: [
      isTold
        ? { extends: true, test: { name: 'long', include: LONG } }
        : { extends: true, test: { name: 'short', include: [SHORT], env: { SCENARIO: 'short' } } },
      {
        extends: true,
        test: { name: 'apart', include: ['test/**/*.test.ts'], exclude: [...TOGETHER, ...LONG] },
      },
      { extends: true, test: { name: 'together', include: TOGETHER, exclude: LONG, isolate: false } },
    ],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // kafkajs sets timers to times in the past; the product's processes are started with the same flag.
    execArgv: ['--disable-warning=TimeoutNegativeWarning'],
    // More than there are cores: many tests wait for a broker, a process or a time limit.
    maxWorkers: 5,
    sequence: { sequencer: Packed },
    env: {
      // The embedded engine answers on the thread pool; the default of four starves it.
      UV_THREADPOOL_SIZE: '16',
      // Halves the start of the processes that tests run.
      NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/compile'),
    },
    // No test depends on time: this only ends one that would never end, even on the slowest machine.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
  },
});
