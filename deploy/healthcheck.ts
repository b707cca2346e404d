/**
 * `node deploy/healthcheck.ts URL [BODY]`: exits with 0 if the URL answers 2xx within 4 s, else prints why and exits
 * with 1. A BODY is posted as JSON.
 */
const [url = '', body] = process.argv.slice(2);
try {
  const answer = await fetch(url, {
    signal: AbortSignal.timeout(4_000),
    ...(body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
  });
  // The body of /ready names what is missing: `docker inspect` shows it.
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
} catch (error) {
  process.stderr.write(`${url}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
