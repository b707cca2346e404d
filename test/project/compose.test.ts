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

test('docker-compose.yml is valid against the schema of the Compose Specification', () => {
  const schema = JSON.parse(textOf('test/project/compose.schema.json'));
  const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
  expect(validate(compose), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...compose, services: { kafka: { imagee: 'x' } } })).toBe(false);
});

test('every service is defined with its number of replicas, and only devnet has a profile', () => {
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
  test('runs as a non-root user, without capabilities, on a read-only file system', () => {
    expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  test('has a memory limit, a restart policy and a grace period for stopping', () => {
    expect(service.mem_limit).toBeDefined();
    expect(service.restart).toMatch(name === 'migrate' ? /^on-failure:\d+$/ : /^unless-stopped$/);
    expect(service.stop_grace_period).toMatch(/^\d+s$/);
  });

  test('has a health check, unless it is migrate, which runs once', () => {
    if (name === 'migrate') expect(service.healthcheck).toEqual({ disable: true });
    else expect(service.healthcheck?.test?.[0]).toBe('CMD');
  });

  test('pins its image to a version, and to a digest where the image is not ours', () => {
    const byDigest = /^[a-z/-]+:v?\d+(\.\d+)+(-alpine)?@sha256:[0-9a-f]{64}$/;
    expect(service.image).toMatch(
      service.image?.startsWith('bankroll-indexer:') ? /:\d+(\.\d+)+$/ : byDigest,
    );
  });

  test('publishes its ports on 127.0.0.1 only', () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test('refers only to services, networks, secrets, files and volumes that exist', () => {
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

  test('takes secrets only through _FILE variables, each naming a secret that it is granted', () => {
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      if (variable !== 'PUBLIC_URL') expect(variable).not.toMatch(/(PASSWORD|TOKEN|_URL)$/);
      if (!/_FILE$/.test(variable)) continue;
      const secret = String(value).replace('/run/secrets/', '');
      expect(service.secrets, variable).toContain(secret);
    }
  });

  test('sets only variables that our processes read or, for a foreign image, ones with its prefix', () => {
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

test('the replicas of materialise and api come from variables that docs/operations.md names, so that `up` keeps them', () => {
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

test('every variable that a service of ours sets, but its addresses and mounts, can be overridden by .env', () => {
  // What a service sets wins over its `env_file`.
  const written = parse(textOf('docker-compose.yml'), { merge: true }) as typeof compose;
  for (const [, { environment = {} }] of ourServices(written))
    for (const [variable, value] of Object.entries(environment))
      if (!OF_CONTAINER.test(variable)) expect(value).toMatch(new RegExp(`^\\$\\{${variable}:-.*\\}$`));
});

test('the upgrade in docs/operations.md recreates every container that mounts a file of the repository', () => {
  // `up` alone does not recreate a container when only the text of a mounted file has changed.
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
  // ClickHouse is recreated before the migration, so that the migration runs with its new configuration.
  const [first, ...rest] = block.split('run --rm migrate');
  expect([first?.includes(' clickhouse'), rest.join('').includes(' clickhouse')]).toEqual([true, false]);
});

test('every declared network, secret and volume is used by some service', () => {
  const used = (key: 'networks' | 'secrets') =>
    new Set(services.flatMap(([, service]) => service[key] ?? []));
  expect(used('networks')).toEqual(new Set(Object.keys(compose.networks)));
  expect(used('secrets')).toEqual(new Set(Object.keys(compose.secrets)));
  const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]));
  for (const volume of Object.keys(compose.volumes)) expect(mounted).toContain(volume);
});

test('a dependent service waits until migrate has completed, and until any other service is healthy', () => {
  for (const [, { depends_on = {} }] of services) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      expect(condition).toBe(other === 'migrate' ? 'service_completed_successfully' : 'service_healthy');
    }
  }
});

test('the agents of devnet share a network with the API, call its port and sign for its PUBLIC_URL', () => {
  const { command = [], networks = [] } = compose.services.devnet ?? {};
  const { api } = compose.services;
  const of = (flag: string) => command[command.indexOf(flag) + 1];
  expect(of('--api')).toBe(`http://api:${api?.environment?.PORT}`);
  expect(networks.some((network) => api?.networks?.includes(network))).toBe(true);
  expect(of('--public-url')).toBe(api?.environment?.PUBLIC_URL);
});

test('deploy/devnet.env sets PROGRAM_ID, to the id that is also the default', () => {
  // Only where it is set, migrate leaves a database of another program as it is.
  const { programId } = readConfig({});
  expect(readEnvFile('deploy/devnet.env').PROGRAM_ID).toBe(programId);
});

test('the stores are on internal networks and publish no port, and the API cannot reach Kafka', () => {
  for (const name of ['kafka', 'clickhouse', 'postgres']) {
    expect(compose.services[name]).toMatchObject({ networks: [name === 'kafka' ? 'log' : 'stores'] });
    expect(compose.services[name]).not.toHaveProperty('ports');
  }
  expect(compose.networks).toMatchObject({ log: { internal: true }, stores: { internal: true } });
  const onTheLog = services.filter(([, { networks = [] }]) => networks.includes('log'));
  expect(onTheLog.map(([name]) => name)).toEqual(['kafka', 'migrate', 'ingest', 'materialise', 'poll']);
  expect(compose.services.api?.environment).not.toHaveProperty('KAFKA_BROKERS');
});

test('the API gets the read-only ClickHouse account and no other secret of ClickHouse or Kafka', () => {
  const { environment, secrets = [] } = compose.services.api ?? {};
  expect(environment?.CLICKHOUSE_URL_FILE).toBe('/run/secrets/clickhouse-reader-url');
  expect(secrets.filter((secret) => /^(clickhouse|kafka)/.test(secret))).toEqual(['clickhouse-reader-url']);
});

test('Kafka requires SASL on the one listener that is reachable from outside its container', () => {
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

test('chain.env.example sets only known variables and points to git-ignored secrets that make-secrets.sh makes', () => {
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

test('make-secrets.sh makes every secret in a directory of mode 700, also in one that had mode 755', () => {
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

describe('the Docker image', () => {
  const dockerfile = textOf('Dockerfile');
  const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: Record<string, string> };

  test('has the Node version that package.json pins', () => {
    expect(dockerfile).toMatch(new RegExp(`^FROM node:${dependencies.node}-[a-z]+-slim@sha256:`, 'm'));
  });

  test('installs the native package of the stream’s codec in the version of package-lock.json', () => {
    const lock = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, { version: string }> };
    const [, name = '', version] = /(@triton-one\/[\w-]+)@([\d.]+)/.exec(dockerfile) ?? [];
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
  });

  test('copies every file that a service runs, and .dockerignore lets everything copied in', () => {
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
