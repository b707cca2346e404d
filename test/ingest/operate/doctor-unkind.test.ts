import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksOf } from '../../../ingest/operate/doctor/checks.ts';
import { runChecks } from '../../../ingest/operate/doctor/report.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { openSwitchboard, type Switchboard } from '../../support/switchboard.ts';
import { type Answers, ENDING, INSECURE, SILENT } from '../support/unkind.ts';

let board: Switchboard;
beforeAll(async () => {
  board = await openSwitchboard();
});
afterAll(() => board.close());

/** What the doctor says of a stream from there. */
async function diagnose(answers: Answers, scheme = 'http', signal = new AbortController().signal) {
  board.answer(answers);
  const lines: string[] = [];
  const config = readConfig({ YELLOWSTONE_ENDPOINT: `${scheme}://127.0.0.1:${board.port}` });
  const checks = checksOf(config).filter(({ variable }) => variable === 'YELLOWSTONE_ENDPOINT');
  await runChecks(checks, (line) => lines.push(line), signal);
  return lines;
}

test.each(Object.entries(SILENT))('%s: one line that says what to do', async (_, answers) => {
  expect(await diagnose(answers, 'http', AbortSignal.timeout(500))).toEqual([
    expect.stringMatching(/^failed.*no slot came in time: .*ask the provider, or name another endpoint$/),
  ]);
});

test.each(Object.entries(ENDING))('%s: one line that says what to do', async (_, [answers]) => {
  expect(await diagnose(answers)).toEqual([
    expect.stringMatching(
      /^failed .*: (is host:port right|end other streams|it takes the request and ends it|something answers there|no Yellowstone gRPC server)/,
    ),
  ]);
});

test('asked for TLS, a certificate that nobody trusts and a server without TLS have lines of their own', async () => {
  const of = async (name: string) => diagnose((INSECURE[name] as [Answers, RegExp])[0], 'https');
  expect(await of('a certificate that nobody trusts')).toEqual([
    expect.stringMatching(/^failed.*self-signed certificate.*: name the host .*NODE_EXTRA_CA_CERTS/),
  ]);
  expect(await of('a certificate that has expired')).toEqual([expect.stringMatching(/^failed.*has expired/)]);
  expect(await of('no TLS')).toEqual([expect.stringMatching(/^failed.*: is host:port right, and https:/)]);
});
