import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { challengeMessage } from '../../../../api/agent/session/message.ts';
import { makeNonce } from '../../../../api/agent/session/nonce.ts';
import { serveAnswers } from '../../../support/answering.ts';
import { testKey } from '../support/keys.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const run = promisify(execFile);
const KEY = testKey('of a consumer');

const CONSUMER = `
import { ApiError, type AgentPost, createAgent, createClient, createSigner } from 'bankroll-indexer/client';
const [url, secret] = process.argv.slice(2) as [string, string];
const signer = createSigner(Buffer.from(secret, 'hex'));
const agent = createAgent({ url, mint: signer.address, key: signer });
const failure: unknown = await agent.post({ kind: 'idle', text: 'x' }).then((post: AgentPost) => post.id, (error) => error);
const { service } = await createClient({ url }).health();
const mint: string | undefined = (await createClient({ url }).coin('m').catch(() => undefined))?.mint;
console.log(JSON.stringify({ address: agent.address, service, mint, code: failure instanceof ApiError ? failure.code : null }));
`;

describe('the packed client', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'client-pack-'));
  const installed = path.join(directory, 'node_modules/bankroll-indexer');

  beforeAll(async () => {
    await run('npm', ['pack', '--pack-destination', directory], { cwd: ROOT });
    const [tarball] = readdirSync(directory).filter((name) => name.endsWith('.tgz'));
    mkdirSync(installed, { recursive: true });
    // As npm unpacks a package, without fetching the service's dependencies from a registry.
    await run('tar', [
      '-xzf',
      path.join(directory, tarball as string),
      '--strip-components=1',
      '-C',
      installed,
    ]);
    symlinkSync(path.join(ROOT, 'node_modules/typebox'), path.join(directory, 'node_modules/typebox'));
    symlinkSync(path.join(ROOT, 'node_modules/@types'), path.join(directory, 'node_modules/@types'));
    writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(directory, 'main.ts'), CONSUMER);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('contains the compiled client, and no TypeScript source, SQL, data or .env file', () => {
    const names = readdirSync(installed, { recursive: true }).map(String);
    expect(names).toContain('dist/api/client/entry.js');
    expect(names.filter((name) => /\.sql$|(^|\/)data\/|\.env|main\.js$/.test(name))).toEqual([]);
    expect(names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
  });

  test('type-checks in a consumer’s program, and signs a challenge and calls a service from it', async () => {
    const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
    const flags = ['--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node', 'main.ts'];
    await run(tsc, flags, { cwd: directory }).catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
    const of = { service: 'svc', mint: KEY.address, agent: KEY.address };
    let message = '';
    const challenge = () => {
      const issuedAt = Date.now();
      const nonce = makeNonce(Buffer.alloc(32), of, issuedAt);
      message = challengeMessage({ ...of, publicUrl: service.url, nonce, issuedAt });
      return { nonce, message };
    };
    const service = await serveAnswers(({ path: asked }) => {
      if (asked === '/health') return { body: { ok: true, service: 'svc' } };
      if (asked === '/api/agent/challenge') return { body: challenge() };
      return { status: 403, body: { error: 'no', code: 'not_the_agent' } };
    });
    const { stdout } = await run(process.execPath, ['main.js', service.url, KEY.secretKey.toString('hex')], {
      cwd: directory,
    });
    await service.close();
    const signed = service.asked.find(({ path: asked }) => asked === '/api/agent/session');
    expect(signed?.body).toMatchObject({ signature: KEY.sign(message).toString('base64') });
    expect(JSON.parse(stdout)).toEqual({ address: KEY.address, service: 'svc', code: 'not_the_agent' });
  });
});
