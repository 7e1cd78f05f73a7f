import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenericContainer, Wait } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backends } from '../support/api.ts';
import { freePort, runCommand, startProcess } from '../support/process.ts';
import { diagnose } from '../support/roles.ts';
import { runTool } from '../support/tools.ts';

const AWKWARD = 'p@ss:w/rd %41#?+';
const SECRET_KEY = randomBytes(32).toString('base64');

/** Creates a certificate for `localhost`, but no IP address, signed by its own CA, in a new folder. */
async function makeCertificates(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'));
  const openssl = (line: string) => runTool('openssl', line.split(' '), { cwd: folder });
  await openssl('req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout authority.key -out ca.crt');
  await openssl(
    'req -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout server.key -out server.csr',
  );
  await openssl(
    'x509 -req -copy_extensions copy -in server.csr -CA ca.crt -CAkey authority.key -CAcreateserial -days 2 -out server.crt',
  );
  return folder;
}

/** A PostgreSQL that only accepts connections over TLS. */
const startPostgres = (folder: string) =>
  new GenericContainer('postgres:18')
    .withEnvironment({ POSTGRES_PASSWORD: AWKWARD, POSTGRES_DB: 'parley' })
    .withCopyContentToContainer([
      { content: readFileSync(join(folder, 'server.crt')), target: '/tls/server.crt', mode: 0o644 },
      { content: readFileSync(join(folder, 'server.key')), target: '/tls/key', mode: 0o644 },
      { content: 'hostssl all all all scram-sha-256\nlocal all all trust\n', target: '/tls/pg_hba.conf', mode: 0o644 },
    ])
    .withEntrypoint([
      'sh',
      '-c',
      'install -o postgres -m 600 /tls/key /tls/server.key && exec docker-entrypoint.sh "$@"',
      '-',
    ])
    .withCommand(
      'postgres -c ssl=on -c ssl_cert_file=/tls/server.crt -c ssl_key_file=/tls/server.key -c hba_file=/tls/pg_hba.conf'.split(
        ' ',
      ),
    )
    .withTmpFs({ '/var/lib/postgresql': 'rw' })
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();

/** Valkey's image with the certificates, for a server or a Sentinel. */
const createValkey = (folder: string) =>
  new GenericContainer('valkey/valkey:9').withCopyContentToContainer(
    ['ca.crt', 'server.crt', 'server.key'].map(name => ({
      content: readFileSync(join(folder, name)),
      target: `/tls/${name}`,
      mode: 0o644,
    })),
  );

/** A Valkey that only listens with TLS. */
const startValkey = (folder: string) =>
  createValkey(folder)
    .withCommand([
      ...'valkey-server --port 0 --tls-port 6379 --tls-auth-clients no --tls-ca-cert-file /tls/ca.crt'.split(' '),
      ...'--tls-cert-file /tls/server.crt --tls-key-file /tls/server.key --requirepass'.split(' '),
      AWKWARD,
      ...'--appendonly yes --appendfsync always --maxmemory 1gb --maxmemory-policy noeviction'.split(' '),
    ])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();

/** A Sentinel of that Valkey that only listens with TLS, and names it as `localhost`. */
const startSentinel = (folder: string, port: number, valkeyPort: number) =>
  createValkey(folder)
    .withNetworkMode('host')
    .withCopyContentToContainer([
      {
        content: `port 0
tls-port ${port}
tls-auth-clients no
tls-replication yes
tls-ca-cert-file /tls/ca.crt
tls-cert-file /tls/server.crt
tls-key-file /tls/server.key
sentinel resolve-hostnames yes
sentinel announce-hostnames yes
sentinel monitor parley localhost ${valkeyPort} 1
sentinel auth-pass parley "${AWKWARD}"
`,
        target: '/tls/sentinel.conf',
        mode: 0o666,
      },
    ])
    .withCommand(['sh', '-c', 'cp /tls/sentinel.conf /tmp/ && exec valkey-server /tmp/sentinel.conf --sentinel'])
    .start();

describe.runIf(backends().includes('valkey'))('stores that require TLS', () => {
  let folder: string;
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let valkey: Awaited<ReturnType<typeof startValkey>>;

  beforeAll(async () => {
    folder = await makeCertificates();
    [postgres, valkey] = await Promise.all([startPostgres(folder), startValkey(folder)]);
  }, 300_000);
  afterAll(() => Promise.all([postgres?.stop(), valkey?.stop()]));

  const environment = (tls: string, host = 'localhost') => ({
    DATABASE_URL: `postgresql://postgres@${host}:${postgres.getMappedPort(5432)}/parley${tls}`,
    DATABASE_PASSWORD: AWKWARD,
    SECRET_KEY,
  });

  /** The errors of each way in which Parley connects: migrations, MikroORM, and the doctor. */
  async function faultsOf(settings: Record<string, string>): Promise<string[]> {
    for (const command of ['migrate', 'tenant create --name Acme']) {
      const { code, stderr } = await runCommand(command.match(/\S+/g) ?? [], settings);
      if (code !== 0) return [stderr];
    }
    return (await diagnose(settings)).checks.filter(check => !check.ok).map(check => check.detail);
  }

  test.each(['require', 'verify-ca', 'verify-full'])('PostgreSQL is used with sslmode=%s', async mode => {
    expect(await faultsOf(environment(`?sslmode=${mode}&sslrootcert=${join(folder, 'ca.crt')}`))).toEqual([]);
  });

  test('require verifies no certificate, as in libpq, also for the queue on PostgreSQL', async () => {
    const settings = environment('?sslmode=require');
    expect(await faultsOf(settings)).toEqual([]);
    await using api = await startProcess('serve', settings);
    await using worker = await startProcess('work', settings);
    await Promise.all([api.awaitProbe('/readyz'), worker.awaitProbe('/readyz')]);
  });

  test('verify-full rejects a server with another name', async () => {
    const settings = environment(`?sslmode=verify-full&sslrootcert=${join(folder, 'ca.crt')}`, '127.0.0.1');
    expect((await runCommand(['doctor'], settings)).stdout).toMatch(/does not match certificate/);
  });

  test('verify-ca rejects a server signed by an unknown CA', async () => {
    const unknown = await makeCertificates();
    const settings = environment(`?sslmode=verify-ca&sslrootcert=${join(unknown, 'ca.crt')}`);
    expect((await runCommand(['doctor'], settings)).stdout).toMatch(/cannot be reached.*certificate/);
  });

  test('a server that requires TLS rejects connections without it', async () => {
    expect(await faultsOf(environment(''))).toEqual([expect.stringMatching(/no pg_hba.conf entry/)]);
  });

  test('rediss:// accepts only a CA in NODE_EXTRA_CA_CERTS', async () => {
    const settings = {
      ...environment('?sslmode=require'),
      REDIS_URL: `rediss://localhost:${valkey.getMappedPort(6379)}`,
      REDIS_PASSWORD: AWKWARD,
    };
    expect(await faultsOf(settings)).not.toEqual([]);
    expect(await faultsOf({ ...settings, NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') })).toEqual([]);
  });

  test('rediss:// with Sentinels uses TLS for these, too', async () => {
    const port = await freePort();
    const sentinel = await startSentinel(folder, port, valkey.getMappedPort(6379));
    try {
      const settings = {
        ...environment('?sslmode=require'),
        REDIS_URL: `rediss://parley?sentinels=localhost:${port}`,
        REDIS_PASSWORD: AWKWARD,
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
      };
      expect(await faultsOf(settings)).toEqual([]);
      await using api = await startProcess('serve', settings);
      await using worker = await startProcess('work', settings);
      await Promise.all([api.awaitProbe('/readyz'), worker.awaitProbe('/readyz')]);
    } finally {
      await sentinel.stop();
    }
  });
});
