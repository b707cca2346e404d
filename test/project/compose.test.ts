import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../runtime/config/config.ts';
import { readVariables } from '../../runtime/config/variables.ts';
import { ourServices, ROOT, readCompose, readEnvFile, textOf } from './support/compose.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const ours = ourServices(compose);

/** Variables of images that are not ours. */
const OF_IMAGE: Record<string, RegExp> = {
  kafka: /^(KAFKA_|CLUSTER_ID$)/,
  clickhouse: /^CLICKHOUSE_/,
  postgres: /^POSTGRES_/,
  grafana: /^GF_/,
};

const known = readVariables();
const isKnown = (name: string) => known.has(name.replace(/_FILE$/, ''));

test('docker-compose.yml has the form that the Compose Specification gives it', () => {
  const schema = JSON.parse(textOf('test/project/compose.schema.json'));
  const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
  expect(validate(compose), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...compose, services: { kafka: { imagee: 'x' } } })).toBe(false);
});

test('every part of the system is there', () => {
  const replicas = Object.fromEntries(
    services.map(([name, service]) => [name, Number(service.deploy?.replicas ?? 1)]),
  );
  expect(replicas).toEqual({
    ...{ kafka: 1, clickhouse: 1, postgres: 1, migrate: 1, ingest: 1, materialise: 2, poll: 1, api: 2 },
    ...{ 'load-balancer': 1, prometheus: 1, grafana: 1, devnet: 1 },
  });
  expect(services.filter(([, service]) => service.profiles !== undefined).map(([name]) => name)).toEqual([
    'devnet',
  ]);
});

describe.each(services)('the service %s', (name, service) => {
  test('has no root, no capabilities and no file system to write to', () => {
    expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  test('is bounded in memory, is started again, and has time to stop', () => {
    expect(service.mem_limit).toBeDefined();
    expect(service.restart).toMatch(name === 'migrate' ? /^on-failure:\d+$/ : /^unless-stopped$/);
    expect(service.stop_grace_period).toMatch(/^\d+s$/);
  });

  test('tells whether it is healthy, unless it runs once and ends', () => {
    if (name === 'migrate') expect(service.healthcheck).toEqual({ disable: true });
    else expect(service.healthcheck?.test?.[0]).toBe('CMD');
  });

  test('runs one version of one image, by its digest where it is not ours', () => {
    const byDigest = /^[a-z/-]+:v?\d+(\.\d+)+(-alpine)?@sha256:[0-9a-f]{64}$/;
    expect(service.image).toMatch(
      service.image?.startsWith('bankroll-indexer:') ? /:\d+(\.\d+)+$/ : byDigest,
    );
  });

  test('is published on this machine alone', () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test('names only what is there', () => {
    for (const other of Object.keys(service.depends_on ?? {}))
      expect(compose.services).toHaveProperty([other]);
    for (const network of service.networks ?? []) expect(compose.networks).toHaveProperty([network]);
    for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty([secret]);
    for (const { path: file } of service.env_file ?? []) expect(existsSync(path.join(ROOT, file))).toBe(true);
    for (const volume of service.volumes ?? []) {
      const [source = '', target, mode] = volume.split(':');
      expect(target).toMatch(/^\//);
      if (!source.startsWith('.')) expect(compose.volumes).toHaveProperty([source]);
      else {
        expect(existsSync(path.join(ROOT, source)), source).toBe(true);
        expect(mode).toBe('ro');
      }
    }
  });

  test('reads its secrets from files that it was given', () => {
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      if (variable !== 'PUBLIC_URL') expect(variable).not.toMatch(/(PASSWORD|TOKEN|_URL)$/);
      if (!/_FILE$/.test(variable)) continue;
      const secret = String(value).replace('/run/secrets/', '');
      expect(service.secrets, variable).toContain(secret);
    }
  });

  test('sets only variables that are read', () => {
    const set = [
      ...Object.keys(service.environment ?? {}),
      ...(service.env_file ?? []).flatMap(({ path: file }) => Object.keys(readEnvFile(file))),
    ];
    for (const variable of set) {
      if (service.build !== undefined) expect(isKnown(variable), variable).toBe(true);
      else expect(variable).toMatch(OF_IMAGE[name] as RegExp);
    }
  });
});

test('how many there are of a service is said where the next `up` finds it too', () => {
  const { services: written } = parse(textOf('docker-compose.yml'), { merge: true }) as typeof compose;
  for (const [name, variable] of [
    ['materialise', 'MATERIALISE_REPLICAS'],
    ['api', 'API_REPLICAS'],
  ] as const) {
    expect(written[name]?.deploy?.replicas).toBe(`$\{${variable}:-2}`);
    expect(textOf('docs/operations.md')).toContain(variable);
  }
});

/** Variables of where a container listens and what is mounted. */
const OF_CONTAINER = /^(HOST|PORT|METRICS_PORT|DATA_DIR)$|_FILE$/;

test('what a deployment sets in its .env reaches our processes, for what a service sets wins over that file', () => {
  const written = parse(textOf('docker-compose.yml'), { merge: true }) as typeof compose;
  for (const [, { environment = {} }] of ourServices(written))
    for (const [variable, value] of Object.entries(environment))
      if (!OF_CONTAINER.test(variable)) expect(value).toMatch(new RegExp(`^\\$\\{${variable}:-.*\\}$`));
});

test('an upgrade makes each container anew that a file of the repository is mounted into, which `up` does not for its text', () => {
  const [, upgrade = ''] = textOf('docs/operations.md').split(/^## Upgrade$/m);
  const [, block = ''] = upgrade.split('```');
  const anew = [
    ...block.matchAll(/docker compose up -d --force-recreate((?: --[\w-]+)*)((?: [a-z][\w-]*)+)/g),
  ];
  const named = anew.flatMap(([, , names = '']) => names.trim().split(' '));
  const mounting = services.flatMap(([name, { volumes = [] }]) =>
    volumes.some((volume) => volume.startsWith('.')) ? [name] : [],
  );
  expect(mounting).toContain('prometheus');
  expect(named.toSorted()).toEqual(mounting.toSorted());
  // ClickHouse is made anew before the migration, so that the migration runs with its new configuration.
  const [first, ...rest] = block.split('run --rm migrate');
  expect([first?.includes(' clickhouse'), rest.join('').includes(' clickhouse')]).toEqual([true, false]);
});

test('everything declared is used', () => {
  const used = (key: 'networks' | 'secrets') =>
    new Set(services.flatMap(([, service]) => service[key] ?? []));
  expect(used('networks')).toEqual(new Set(Object.keys(compose.networks)));
  expect(used('secrets')).toEqual(new Set(Object.keys(compose.secrets)));
  const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]));
  for (const volume of Object.keys(compose.volumes)) expect(mounted).toContain(volume);
});

test('what depends on a service that runs once waits for its end, on any other for its health', () => {
  for (const [, { depends_on = {} }] of services) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      expect(condition).toBe(other === 'migrate' ? 'service_completed_successfully' : 'service_healthy');
    }
  }
});

test('the agents of the local chain reach the API, and sign for the name that it gives itself', () => {
  const { command = [], networks = [] } = compose.services.devnet ?? {};
  const { api } = compose.services;
  const of = (flag: string) => command[command.indexOf(flag) + 1];
  expect(of('--api')).toBe(`http://api:${api?.environment?.PORT}`);
  expect(networks.some((network) => api?.networks?.includes(network))).toBe(true);
  expect(of('--public-url')).toBe(api?.environment?.PUBLIC_URL);
});

test('migrate is told of the local chain which program it is of, and leaves a database of another as it is', () => {
  const { programId } = readConfig({});
  expect(readEnvFile('deploy/devnet.env').PROGRAM_ID).toBe(programId);
});

test('the stores have no way out and are published nowhere', () => {
  for (const name of ['kafka', 'clickhouse', 'postgres']) {
    expect(compose.services[name]).toMatchObject({ networks: [name === 'kafka' ? 'log' : 'stores'] });
    expect(compose.services[name]).not.toHaveProperty('ports');
  }
  expect(compose.networks).toMatchObject({ log: { internal: true }, stores: { internal: true } });
  const onTheLog = services.filter(([, { networks = [] }]) => networks.includes('log'));
  expect(onTheLog.map(([name]) => name)).toEqual(['kafka', 'migrate', 'ingest', 'materialise', 'poll']);
  expect(compose.services.api?.environment).not.toHaveProperty('KAFKA_BROKERS');
});

test('the API has the account of ClickHouse that only reads, and no other', () => {
  const { environment, secrets = [] } = compose.services.api ?? {};
  expect(environment?.CLICKHOUSE_URL_FILE).toBe('/run/secrets/clickhouse-reader-url');
  expect(secrets.filter((secret) => /^(clickhouse|kafka)/.test(secret))).toEqual(['clickhouse-reader-url']);
});

test('Kafka asks everybody for a login who is not in its own container', () => {
  const of = (name: string) =>
    new Map(
      String(compose.services.kafka?.environment?.[name])
        .split(',')
        .map((part) => {
          const [, listener = '', rest = ''] = /^(\w+):(.*)$/.exec(part) ?? [];
          return [listener, rest] as const;
        }),
    );
  const outside = [...of('KAFKA_LISTENERS')].filter(([, at]) => !at.startsWith('//127.0.0.1:'));
  expect(outside.map(([listener]) => listener)).toEqual(['CLIENTS']);
  expect(of('KAFKA_LISTENER_SECURITY_PROTOCOL_MAP').get('CLIENTS')).toBe('SASL_PLAINTEXT');
});

test('the example of a real chain sets what is read, and brings secrets of its own', () => {
  const { CHAIN_ENV, SECRETS_DIR, ...example } = readEnvFile('deploy/chain.env.example');
  expect(CHAIN_ENV).toBe('.env');
  expect(SECRETS_DIR).toBe('./secrets');
  expect(textOf('.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', 'secrets/']));
  for (const variable of Object.keys(example)) expect(isKnown(variable), variable).toBe(true);
  const made = textOf('deploy/make-secrets.sh');
  for (const secret of Object.keys(compose.secrets)) {
    expect(made).toContain(secret.replace(/^(\w+)-password$/, '$1'));
    expect(existsSync(path.join(ROOT, compose.secrets[secret]?.file ?? '')), secret).toBe(true);
  }
});

test('the secrets of a deployment are in a directory of its owner alone, also in one that was open before', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'made-'));
  const modeOf = (name: string) => (statSync(name).mode & 0o777).toString(8);
  const open = path.join(directory, 'open');
  mkdirSync(open);
  chmodSync(open, 0o755);
  for (const made of [open, path.join(directory, 'fresh')]) {
    const env = { ...process.env, SECRETS_DIR: made };
    const input = 'https://node.example\ntoken\n';
    execFileSync('sh', [path.join(ROOT, 'deploy/make-secrets.sh')], { env, input, stdio: 'pipe' });
    expect(modeOf(made), made).toBe('700');
    expect(new Set(readdirSync(made))).toEqual(
      new Set([...Object.keys(compose.secrets), 'clickhouse-reader-password']),
    );
  }
  rmSync(directory, { recursive: true });
});

describe('the image', () => {
  const dockerfile = textOf('Dockerfile');
  const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: Record<string, string> };

  test('has the Node that package.json pins', () => {
    expect(dockerfile).toMatch(new RegExp(`^FROM node:${dependencies.node}-[a-z]+-slim@sha256:`, 'm'));
  });

  test('has the native part of the codec in the version of the lock', () => {
    const lock = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, { version: string }> };
    const [, name = '', version] = /(@triton-one\/[\w-]+)@([\d.]+)/.exec(dockerfile) ?? [];
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
  });

  test('holds every file that a service runs, and the context lets it in', () => {
    const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].flatMap((match) => match[1]?.split(' '));
    const context = textOf('.dockerignore').split('\n');
    for (const file of copied) expect(context).toContain(`!${file}`);
    for (const [, { command = [], healthcheck }] of ours) {
      const files = [...command, ...(healthcheck?.test ?? [])].filter((word) => word.endsWith('.ts'));
      expect(files.length).toBeGreaterThan(0);
      for (const file of files) {
        expect(existsSync(path.join(ROOT, file)), file).toBe(true);
        expect(
          copied.some((from) => file === from || file.startsWith(`${from}/`)),
          file,
        ).toBe(true);
      }
    }
  });
});
