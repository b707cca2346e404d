import { expect, test } from 'vitest';
import { agentRoutes } from '../../api/agent/routes.ts';
import { createClient } from '../../api/client/client.ts';
import type { ReadDeps } from '../../api/deps/read-deps.ts';
import { KINDS } from '../../api/explorer/browser/text/events.ts';
import type { Route } from '../../api/http/route.ts';
import { openApiRoute, readRoutes } from '../../api/routes.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { secretsOf } from '../../runtime/config/secrets.ts';
import { readVariables } from '../../runtime/config/variables.ts';
import { DEVNET_PROGRAM_ID } from '../../schemas/program/devnet-program.ts';
import { EVENTS } from '../../schemas/program/idl.ts';
import { RankingFilters, RankingsQuery, SORTS } from '../../schemas/responses/rankings.ts';
import {
  idSetting,
  idVariable,
  REMOTE_VENUE_NAMES,
  REMOTE_VENUES,
  urlVariable,
} from '../../schemas/venues/remote.ts';
import { readEnvFile, textOf } from './support/compose.ts';

const readme = textOf('README.md');
const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string);

const variables = readVariables();

const deps = {
  settings: { optionsVenueId: '<options_venue>', serviceName: '', programId: DEVNET_PROGRAM_ID },
} as ReadDeps;
const readable = [...readRoutes(deps), openApiRoute(() => null)];
const allRoutes: Route[] = [...readable, ...agentRoutes({} as Parameters<typeof agentRoutes>[0])];

test('README lists the sorts and the filters of the rankings', () => {
  const [, sorts = '', filters = ''] = /sorts (.*?); filters (.*?)\|/.exec(readme) ?? [];
  expect(codeIn(sorts)).toEqual([...SORTS]);
  expect(codeIn(filters)).toEqual(Object.keys(RankingFilters.properties));
});

test('every filter that a rankings response names is a query parameter of /rankings', () => {
  expect(Object.keys(RankingsQuery.properties)).toEqual(
    expect.arrayContaining(Object.keys(RankingFilters.properties)),
  );
});

test('the explorer has words for every kind of event of a policy', () => {
  expect([...KINDS].sort()).toEqual([...EVENTS.values()].filter((kind) => kind !== 'ProtocolPaused').sort());
});

test('README’s table of routes lists every read route, and no other', () => {
  const [, table = ''] =
    /## Routes([\s\S]*?)\n\n[^|]/.exec(readme.replace('## Routes\n\n', '## Routes')) ?? [];
  const named = table
    .split('\n')
    .flatMap((line) => {
      const [first = '', ...siblings] = codeIn(line.split('|')[1] ?? '').map((path) =>
        path.replace(/\?.*/, ''),
      );
      const below = first.slice(0, first.lastIndexOf('/'));
      return [first, ...siblings.map((path) => `${below}/${path.split('/').at(-1)}`)];
    })
    // The explorer's pages and the streams are not in this table.
    .filter((path) => path !== '' && !/^\/(explorer|stream)\//.test(path));
  expect(named.sort()).toEqual(readable.map(({ path }) => path).sort());
});

test('the client has a function for each route, and no other', async () => {
  const asked: string[] = [];
  const answer = async (url: URL | string | Request, init?: RequestInit) => {
    const { pathname } = new URL(String(url));
    asked.push(`${init?.method} ${decodeURIComponent(pathname)}`);
    return new Response('{}', { status: 200 });
  };
  const client = createClient({ url: 'http://api', fetch: answer as typeof fetch });
  const first: Record<string, string> = { currencies: '<options_venue>', quotes: '' };
  for (const [name, ask] of Object.entries(client))
    await (ask as (given: unknown) => Promise<unknown>)(first[name] ?? ':mint');
  const routes = allRoutes.filter(({ path }) => path !== '/').map(({ method, path }) => `${method} ${path}`);
  expect([...asked].sort()).toEqual(routes.sort());
});

test('README lists the variables of the configuration, and no other', () => {
  const [, table = ''] = /## Configuration([\s\S]*?)\n`npm start/.exec(readme) ?? [];
  const named = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => codeIn(line.split('|')[1] ?? ''));
  expect(named.sort()).toEqual([...variables].sort());
});

test.each(['deploy/devnet.env', 'deploy/chain.env.example'])(
  '%s sets only variables that exist, and the URL of every venue',
  (file) => {
    const own = ['CHAIN_ENV', 'SECRETS_DIR'];
    const named = Object.keys(readEnvFile(file));
    expect(named.filter((name) => !variables.has(name) && !own.includes(name))).toEqual([]);
    expect(named).toEqual(expect.arrayContaining(REMOTE_VENUE_NAMES.map(urlVariable)));
  },
);

test('README states the default id of every venue', () => {
  const [, named = ''] = /\| (?:`\w+_VENUE_ID`,? ?)+ *\|([^|]*)\|/.exec(readme) ?? [];
  const config = readConfig({});
  const ids = REMOTE_VENUE_NAMES.map((venue) => config[idSetting(venue)]);
  expect(named.trim().split(', ')).toEqual([...ids, config.launchpadVenueId, config.ammVenueId]);
});

test('every venue has a variable for its id and one for its URL', () => {
  for (const venue of REMOTE_VENUE_NAMES) {
    expect(variables).toContain(idVariable(venue));
    expect(variables).toContain(urlVariable(venue));
  }
});

test('every venue has tests of its reader and, if it tells account equity, of how accounts are polled', () => {
  for (const venue of REMOTE_VENUE_NAMES) {
    expect(textOf(`test/schemas/venues/${venue}.test.ts`)).toContain('test(');
    if (REMOTE_VENUES[venue].withoutEquity === null)
      expect(textOf(`test/ingest/poll/${venue}-accounts.test.ts`)).toContain('test(');
  }
});

test('the tests of doctor, of the status and of positions mention every venue', () => {
  const lines = REMOTE_VENUE_NAMES.flatMap((venue) => [
    ['test/ingest/operate/doctor.test.ts', `of('${urlVariable(venue)}')`],
    ['test/api/status.test.ts', `venue: '${venue}_x'`],
    ['test/api/status.test.ts', `venues.${venue}_x`],
    ['test/api/coin/positions.test.ts', `venue: '${venue}_x'`],
  ]);
  expect(lines.filter(([path = '', line = '']) => !textOf(path).includes(line))).toEqual([]);
});

test('deploy/devnet.env gives every venue a URL whose path is the venue’s name', () => {
  const env = readEnvFile('deploy/devnet.env');
  for (const venue of REMOTE_VENUE_NAMES)
    expect(new URL(env[urlVariable(venue)] ?? '').pathname).toBe(`/${venue}`);
});

test('a password or a key in the URL of a venue counts as a secret', () => {
  for (const venue of REMOTE_VENUE_NAMES) {
    const key = `key-of-the-${venue}-venue`;
    const config = readConfig({ [urlVariable(venue)]: `https://u:pass-${venue}@venue.example/${key}` });
    expect(secretsOf(config)).toEqual(expect.arrayContaining([key, `pass-${venue}`]));
  }
});
