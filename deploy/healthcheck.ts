/**
 * `node deploy/healthcheck.ts URL [BODY]`: ends with 0 where the URL answers 2xx, else prints why and ends with 1.
 * A BODY is posted as JSON.
 */
const [url = '', body] = process.argv.slice(2);
try {
  const answer = await fetch(url, {
    signal: AbortSignal.timeout(4_000),
    ...(body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
  });
  // What /ready names as missing is what `docker inspect` should show.
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
} catch (error) {
  process.stderr.write(`${url}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
