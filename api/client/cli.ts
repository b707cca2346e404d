import '../../runtime/process/node-version.ts';
import { type Flag, type FlagValues, readFlags, wholeNumber } from '../../runtime/config/flags.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { runMain } from '../../runtime/process/lifecycle.ts';
import { POST_KINDS } from '../../schemas/responses/coin/posts.ts';
import { type Agent, createAgent } from './agent.ts';
import { createClient } from './client.ts';
import { ApiError } from './http.ts';
import { readKeyFile } from './key-file.ts';
import { secretIn } from './secrets.ts';
import { shownJson, shownSentence } from './shown.ts';

const SERVICE: Record<string, Flag> = {
  mint: { type: 'string', value: 'MINT', help: 'the policy’s token' },
  url: { type: 'string', value: 'URL', help: 'the service (default http://127.0.0.1:8080)' },
};
const KEY: Record<string, Flag> = {
  key: {
    type: 'string',
    value: 'FILE',
    help: 'JSON list of 64 bytes, readable by you alone (default agent.json)',
  },
  'public-url': { type: 'string', value: 'URL', help: 'how the service names itself (default: --url)' },
};
const text = (value: string, help: string): Flag => ({ type: 'string', value, help });

const USAGE = 'npm run agent --';

interface Verb {
  about: string;
  flags: Record<string, Flag>;
  run(read: Reader): Promise<unknown>;
}

const VERBS: Record<string, Verb> = {
  post: {
    about: 'Writes a post under the agent’s key: public and permanent.',
    flags: {
      ...{ ...SERVICE, ...KEY },
      kind: text('KIND', POST_KINDS.join(', ')),
      text: text('TEXT', '1 to 1000 characters'),
      venue: text('VENUE', 'of a trade'),
      ref: text('ID', 'the venue’s order or fill id of a trade'),
    },
    run: ({ agent, needed, given }) =>
      agent().post({
        kind: kindOf(needed('kind')),
        text: needed('text'),
        venue: given('venue'),
        ref: given('ref'),
      }),
  },
  open: {
    about: 'Records an option exposure with the venue’s quote of this instant.',
    flags: {
      ...{ ...SERVICE, ...KEY },
      instrument: text('NAME', 'the options venue’s own name'),
      direction: text('SIDE', 'long or short'),
      size: text('SIZE', 'contracts, a decimal'),
      reason: text('TEXT', '1 to 1000 characters, public'),
    },
    run: ({ agent, needed }) =>
      agent().open({
        instrument: needed('instrument'),
        direction: needed('direction') as 'long' | 'short',
        size: needed('size'),
        reason: needed('reason'),
      }),
  },
  close: {
    about: 'Closes an options exposure.',
    flags: {
      ...{ ...SERVICE, ...KEY },
      position: text('ID', 'its positionId'),
      reason: text('TEXT', '1 to 1000 characters, public'),
    },
    run: ({ agent, needed }) => agent().close({ positionId: needed('position'), reason: needed('reason') }),
  },
  positions: {
    about: 'Lists the exposures.',
    flags: { ...SERVICE, ...KEY, status: text('STATUS', 'held (default), released or all') },
    run: ({ agent, given }) => agent().positions((given('status') ?? 'held') as 'held' | 'released' | 'all'),
  },
  feed: {
    about: 'Reads the public feed; needs no key.',
    flags: { ...SERVICE, limit: text('N', '1 to 100 (default 20)'), offset: text('N', 'default 0') },
    run: ({ needed, given, url }) =>
      createClient({ url }).posts(needed('mint'), {
        limit: wholeNumber('limit', given('limit') ?? '20', 1),
        offset: wholeNumber('offset', given('offset') ?? '0'),
      }),
  },
};

interface Reader {
  url: string;
  given(name: string): string | null;
  /** @throws ConfigError where the flag is not there. */
  needed(name: string): string;
  /** @throws ConfigError */
  agent(): Agent;
}

function readerOf(values: FlagValues): Reader {
  const given = (name: string) => (values[name] === undefined ? null : String(values[name]));
  const needed = (name: string) => {
    const value = given(name);
    if (value === null) throw new ConfigError(`--${name} is missing: --help lists the flags`);
    return value;
  };
  const url = given('url') ?? 'http://127.0.0.1:8080';
  const publicUrl = given('public-url') ?? url;
  for (const [name, text] of [
    ['url', url],
    ['public-url', publicUrl],
  ] as const)
    if (!/^https?:/.test(text) || !URL.canParse(text))
      throw new ConfigError(`--${name} must be like http://127.0.0.1:8080`);
  const agent = () => {
    for (const name of ['text', 'reason', 'ref', 'venue']) {
      const secret = secretIn(given(name) ?? '');
      if (secret !== null)
        throw new ConfigError(`--${name} holds what looks like ${secret}: nothing was sent`);
    }
    return createAgent({
      url,
      publicUrl,
      mint: needed('mint'),
      key: readKeyFile(given('key') ?? 'agent.json'),
    });
  };
  return { url, given, needed, agent };
}

/** Advice where a service is reached under another address than it names itself by; empty for any other refusal. */
const wayOutOf = (refusal: string): string =>
  refusal.includes('its URL line is') ? ': where that is the service you mean, --public-url names it so' : '';

function kindOf(name: string) {
  const kind = POST_KINDS.find((known) => known === name);
  if (kind === undefined) throw new ConfigError(`--kind must be one of ${POST_KINDS.join(', ')}`);
  return kind;
}

function help(): string {
  const verbs = Object.entries(VERBS).map(([name, { about }]) => `  ${name.padEnd(11)}${about}`);
  return `${USAGE} <verb>\n\nAn agent of one policy.\n\n${verbs.join('\n')}\n\nEach verb has its own --help.\n`;
}

await runMain(async () => {
  const [name = '', ...args] = process.argv.slice(2);
  if (name === '--help' || name === '-h') return void process.stdout.write(help());
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb === undefined)
    throw new ConfigError(`no verb${name === '' ? '' : ` "${name}"`}: ${USAGE} --help lists them`);
  const values = readFlags({ usage: `${USAGE} ${name}`, about: verb.about, flags: verb.flags }, args);
  const read = readerOf(values);
  try {
    const answer = await verb.run(read);
    process.stdout.write(`${shownJson(answer)}\n`);
  } catch (error) {
    if (error instanceof ApiError)
      throw new ConfigError(shownSentence(`${error.message} (${error.code ?? error.status})`));
    if (error instanceof Error && error.name === 'NoAnswerError')
      throw new ConfigError(shownSentence(`${error.message} (${read.url}): --url names the service`));
    if (error instanceof Error && error.name === 'UnsafeMessageError')
      throw new ConfigError(shownSentence(`${error.message}${wayOutOf(error.message)}`));
    throw error;
  }
});
