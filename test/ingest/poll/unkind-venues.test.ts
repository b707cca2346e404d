import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Polled, poll } from '../../../ingest/poll/venues/call.ts';
import { NO_ADDRESS } from '../../../schemas/records.ts';
import { awaited } from '../../support/awaited.ts';
import { openSwitchboard, type Switchboard } from '../../support/switchboard.ts';
import { NO_REPLY, PATIENT_MS, says, whole } from '../../support/unkind-http.ts';

let board: Switchboard;
beforeEach(async () => {
  board = await openSwitchboard();
});
afterEach(() => board.close());

/** A request as to venues, the catalogue and price sources. */
function ask(timeoutMs: number): Promise<Polled<unknown>> {
  const url = `http://127.0.0.1:${board.port}/info`;
  const { signal } = new AbortController();
  return poll({ url, what: 'prices', where: NO_ADDRESS, signal, timeoutMs }, (reply) => reply);
}

test.each([
  ...Object.entries(NO_REPLY),
  ['a page of HTML with 502', [says(whole('<html>', '', '502 Bad Gateway')), /^answered 502$/, PATIENT_MS]],
  ['a page of HTML with 200', [says(whole('<html>')), /^not JSON$/, PATIENT_MS]],
] as [string, (typeof NO_REPLY)[string]][])(
  '%s: the request fails with an error text of our own, and succeeds once the venue is well',
  async (_, [answers, words, timeoutMs]) => {
    board.answer(answers);
    expect(await ask(timeoutMs)).toMatchObject({ error: expect.stringMatching(words) });
    board.answer(says(whole('{"price":1}', 'content-type: text/plain\r\n')));
    const well = await awaited(async () => {
      const polled = await ask(timeoutMs);
      if ('error' in polled) throw new Error(polled.error);
      return polled.value;
    });
    expect(well).toEqual({ price: 1 });
  },
);
