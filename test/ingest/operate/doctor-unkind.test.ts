import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { checksOf } from '../../../ingest/operate/doctor/checks.ts';
import { runChecks } from '../../../ingest/operate/doctor/report.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { trusting } from '../../support/certificate.ts';
import { openSwitchboard, type Switchboard } from '../../support/switchboard.ts';
import { type Answers, ENDING, INSECURE, SILENT } from '../support/unkind.ts';

// gRPC reads this once, as it is loaded: none of this machine's certificates should be trusted here.
vi.hoisted(() => vi.stubEnv('GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', ''));

let board: Switchboard;
beforeAll(async () => {
  board = await openSwitchboard();
});
afterAll(() => board.close());

/** The doctor's lines about a stream from that server. */
async function diagnose(answers: Answers, scheme = 'http', signal = new AbortController().signal) {
  board.answer(answers);
  const lines: string[] = [];
  const config = readConfig({ YELLOWSTONE_ENDPOINT: `${scheme}://127.0.0.1:${board.port}` });
  const checks = checksOf(config).filter(({ variable }) => variable === 'YELLOWSTONE_ENDPOINT');
  await runChecks(checks, (line) => lines.push(line), signal);
  return lines;
}

test.each(Object.entries(SILENT))(
  '%s: one line that no slot came in time, with advice',
  async (_, answers) => {
    expect(await diagnose(answers, 'http', AbortSignal.timeout(500))).toEqual([
      expect.stringMatching(/^failed.*no slot came in time: .*ask the provider, or name another endpoint$/),
    ]);
  },
);

const NO_SERVER = /: is host:port right, and https:\/\/ where it wants TLS\?$/;
const ENDS = /ended the stream: it takes the request and ends it; ask the provider$/;
const LIMIT = /: end other streams of this token, or take a larger plan$/;
const BROKEN =
  /: something answers there that is no Yellowstone gRPC server, or a broken one; ask the provider$/;

/** What is advised; more than one where it depends on the moment how far the answer of the server comes. */
const ADVICE: Record<string, readonly RegExp[]> = {
  'a connection that is closed at once': [NO_SERVER],
  'a message that claims to be of a gigabyte': [BROKEN],
  'GOAWAY, and the stream is ended': [ENDS],
  'GOAWAY with a code': [LIMIT, NO_SERVER, BROKEN, ENDS],
  'RST_STREAM with ENHANCE_YOUR_CALM': [LIMIT],
  'RST_STREAM with INTERNAL_ERROR': [BROKEN],
  'headers of a megabyte': [BROKEN, NO_SERVER],
  'a page of HTML with 502': [NO_SERVER],
  'a page of HTML with 200': [BROKEN],
  'no Yellowstone server': [/: no Yellowstone gRPC server is there$/],
  'a server of HTTP/1.1': [NO_SERVER],
  'TLS where none was asked for': [NO_SERVER],
};

test.each(Object.entries(ENDING))(
  '%s: one failed line, with the advice on that kind of end',
  async (name, [answers]) => {
    const [line = '', ...more] = await diagnose(answers);
    expect(more).toEqual([]);
    expect(line).toMatch(/^failed /);
    expect((ADVICE[name] as readonly RegExp[]).filter((advice) => advice.test(line))).toHaveLength(1);
  },
);

test('a stream over https: each certificate problem, and a server without TLS, has advice of its own', async () => {
  const of = async (name: string) => diagnose((INSECURE[name] as [Answers, RegExp])[0], 'https');
  expect(await of('a certificate that nobody trusts')).toEqual([
    expect.stringMatching(/^failed.*self-signed certificate.*: have NODE_EXTRA_CA_CERTS name who signed it/),
  ]);
  vi.stubEnv('GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', '/of/our/own.pem');
  expect(await of('a certificate that nobody trusts')).toEqual([
    expect.stringMatching(
      /^failed.*self-signed certificate.*: the file that GRPC_DEFAULT_SSL_ROOTS_FILE_PATH/,
    ),
  ]);
  vi.stubEnv('GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', '');
  await trusting(async () =>
    expect(await of('a certificate that nobody trusts')).toEqual([
      expect.stringMatching(/^failed.*: name the host that its certificate is for$/),
    ]),
  );
  expect(await of('a certificate that has expired')).toEqual([
    expect.stringMatching(/^failed.*certificate has expired\.?: have the provider renew it/),
  ]);
  expect(await of('no TLS')).toEqual([expect.stringMatching(/^failed.*: is host:port right, and https:/)]);
});

test('a node over https: each certificate problem has advice of its own, in which no key appears', async () => {
  const of = async (name: string) => {
    board.answer((INSECURE[name] as [Answers, RegExp])[0]);
    const lines: string[] = [];
    const url = `https://user:LOGIN-OF-NOBODY@127.0.0.1:${board.port}/KEY-OF-NOBODY`;
    const checks = checksOf(readConfig({ SOLANA_RPC_URL: url }));
    const own = checks.filter(({ variable }) => variable === 'SOLANA_RPC_URL');
    await runChecks(own, (line) => lines.push(line), new AbortController().signal);
    expect(lines.join()).not.toContain('OF-NOBODY');
    return lines;
  };
  const failed = (words: string) => [
    expect.stringMatching(new RegExp(`^failed +SOLANA_RPC_URL +\\w+: ${words}`)),
  ];
  expect(await of('a certificate that nobody trusts')).toEqual(
    failed('its certificate is not valid: .*NODE_EXTRA_CA_CERTS'),
  );
  expect(await of('a certificate that has expired')).toEqual(
    failed('its certificate has expired: .*renew it'),
  );
  expect(await of('no TLS')).toEqual(failed('no TLS answers: .*https:// only where'));
  await trusting(async () =>
    expect(await of('a certificate that nobody trusts')).toEqual(
      failed('its certificate is of another host: name the host'),
    ),
  );
});
