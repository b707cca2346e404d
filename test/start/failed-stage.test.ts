import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';

const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');
const MISSING = '/nowhere/roots.pem';

test('a stage that fails while the others work ends the process with its error and a non-zero exit code', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'failed-stage-'));
  const nobody = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATA_DIR: dataDir,
      PORT: '0',
      YELLOWSTONE_ENDPOINT: `https://${nobody}`,
      SOLANA_RPC_URL: `http://${nobody}`,
      // Without a readable file the stream fails.
      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: MISSING,
    },
  });
  child.stdout.resume();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(said).toContain(
    `GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: ENOENT: no such file or directory, open '${MISSING}'`,
  );
  expect(code).not.toBe(0);
  rmSync(dataDir, { recursive: true });
});
