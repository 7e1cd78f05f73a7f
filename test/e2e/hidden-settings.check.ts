import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { GenericContainer } from 'testcontainers';
import { describe, expect, inject, test } from 'vitest';
import type { Diagnosis } from '../../src/commands/doctor.ts';
import { openValkey } from '../faults/stores.ts';
import { createDatabase } from '../support/database.ts';
import { freePort, startProcess } from '../support/process.ts';
import { diagnose, startRoles } from '../support/roles.ts';

const SECRET_KEY = randomBytes(32).toString('base64');
const DECLARED = { QUEUE_DURABILITY: 'declared', QUEUE_DURABILITY_NOTE: 'Provider X: confirmed writes survive' };

const ofQueue = ({ checks }: Diagnosis) => checks.filter(({ name }) => name.startsWith('queue'));

/** Stores that hide their settings, and the user with whom Parley connects. */
const HIDING: [string, Record<string, string>, string][] = [
  ['without the command CONFIG', { 'rename-command': 'CONFIG ""' }, ''],
  ['with an ACL user who may not use CONFIG', { user: 'parley on >pw ~* &* +@all -config' }, 'parley:pw@'],
];

describe.runIf(inject('hasDocker')).each(HIDING)('a Valkey %s', (_, settings, credentials) => {
  test('is refused, and accepted once the operator declares its durability', async () => {
    await using database = await createDatabase();
    await using valkey = await openValkey({ settings: { maxmemory: '512mb', ...settings } });
    const REDIS_URL = valkey.url.replace('redis://', `redis://${credentials}`);
    const strict = { DATABASE_URL: database.url, SECRET_KEY, REDIS_URL };
    expect(ofQueue(await diagnose(strict)).filter(({ ok }) => !ok)).toEqual([
      expect.objectContaining({
        name: 'queue durability',
        detail: expect.stringContaining('cannot be read'),
        mend: expect.stringContaining('QUEUE_DURABILITY=declared'),
      }),
    ]);

    const environment = { ...strict, ...DECLARED };
    const diagnosis = await diagnose(environment);
    expect(diagnosis.ok).toBe(true);
    expect(ofQueue(diagnosis)).toContainEqual(
      expect.objectContaining({ ok: true, detail: 'declared: Provider X: confirmed writes survive' }),
    );
    await using roles = await startRoles({ ...environment, RATE_LIMITS: 'on' });
    await roles.runDemo();
    expect(await roles.degraded()).toEqual([]);
    const metrics = await (await fetch(`${roles.api.metricsUrl}/metrics`)).text();
    expect(metrics).toContain('parley_queue_durable 1');
    expect(metrics).toContain('parley_queue_durability_info{mode="declared"} 1');
    expect(roles.output()).not.toContain('"level":"error"');
  });
});

describe.runIf(inject('hasDocker'))('the doctor', () => {
  test('does not accept a declaration against settings that can be read', async () => {
    await using database = await createDatabase();
    const readable: Record<string, string>[] = [
      { appendfsync: 'everysec' },
      { 'maxmemory-policy': 'allkeys-lru', 'rename-command': 'CONFIG ""' },
    ];
    for (const settings of readable) {
      await using valkey = await openValkey({ settings: { maxmemory: '512mb', ...settings } });
      const environment = { DATABASE_URL: database.url, SECRET_KEY, REDIS_URL: valkey.url, ...DECLARED };
      expect(ofQueue(await diagnose(environment)).filter(({ ok }) => !ok)).toHaveLength(1);
    }
  });

  test('accepts what was chosen with relaxed, and mentions it', async () => {
    await using database = await createDatabase();
    await using valkey = await openValkey({ settings: { maxmemory: '512mb', appendfsync: 'everysec' } });
    const environment = { DATABASE_URL: database.url, SECRET_KEY, REDIS_URL: valkey.url, QUEUE_DURABILITY: 'relaxed' };
    const diagnosis = await diagnose(environment);
    expect(diagnosis.ok).toBe(true);
    expect(ofQueue(diagnosis)).toContainEqual(
      expect.objectContaining({
        detail: expect.stringContaining('everysec'),
        hint: expect.stringContaining('relaxed'),
      }),
    );
  });

  test('says why a store refuses: credentials, an unknown authority, or no reply at all', async () => {
    await using database = await createDatabase();
    await using valkey = await openValkey({ settings: { user: 'parley on >right ~* &* +@all' } });
    const faultOf = async (REDIS_URL: string, more: Record<string, string> = {}) => {
      const startedAt = Date.now();
      const [fault] = ofQueue(await diagnose({ DATABASE_URL: database.url, SECRET_KEY, REDIS_URL, ...more })).filter(
        ({ ok }) => !ok,
      );
      expect(Date.now() - startedAt).toBeLessThan(90_000);
      return `${fault?.detail} ${fault?.mend}`;
    };
    const { port } = new URL(valkey.url);
    expect(await faultOf(`redis://parley:wrong@127.0.0.1:${port}`)).toMatch(/WRONGPASS.*REDIS_PASSWORD/);

    const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
    await promisify(execFile)('openssl', [
      ...made,
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      key,
      '-out',
      cert,
    ]);
    const secure = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }).listen(0, '127.0.0.1');
    const silent = createServer();
    const sockets: Socket[] = [];
    silent.on('connection', socket => void sockets.push(socket)).listen(0, '127.0.0.1');
    await new Promise(resolve => silent.once('listening', resolve));
    const portOf = (server: { address(): unknown }) => (server.address() as { port: number }).port;
    expect(await faultOf(`rediss://localhost:${portOf(secure)}`)).toMatch(/self-signed.*NODE_EXTRA_CA_CERTS/);
    const otherName = await faultOf(`rediss://127.0.0.1:${portOf(secure)}`, { NODE_EXTRA_CA_CERTS: cert });
    expect(otherName).toMatch(/altnames.*host name in the server's certificate/);
    expect(await faultOf(`redis://127.0.0.1:${portOf(silent)}`)).toMatch(/cannot be reached/);
    for (const socket of sockets) socket.destroy();
    secure.close();
    silent.close();
  }, 300_000);

  test('reaches Sentinels with a password, and reports a wrong one within a deadline', async () => {
    await using database = await createDatabase();
    await using valkey = await openValkey({ settings: { maxmemory: '512mb' }, onHost: true });
    const port = await freePort();
    const settings = `port ${port}
bind 127.0.0.1
requirepass guarded
sentinel monitor parley 127.0.0.1 ${new URL(valkey.url).port} 1
`;
    const sentinel = await new GenericContainer('valkey/valkey:9')
      .withNetworkMode('host')
      .withCommand(['sh', '-c', `echo '${settings}' > /tmp/s.conf && exec valkey-server /tmp/s.conf --sentinel`])
      .start();
    try {
      const environment = {
        DATABASE_URL: database.url,
        SECRET_KEY,
        REDIS_URL: `redis://parley?sentinels=127.0.0.1:${port}`,
      };
      const file = join(mkdtempSync(join(tmpdir(), 'parley-sentinel-')), 'password');
      writeFileSync(file, 'guarded\n');
      expect(await diagnose({ ...environment, REDIS_SENTINEL_PASSWORD_FILE: file })).toMatchObject({ ok: true });
      await using api = await startProcess('serve', { ...environment, REDIS_SENTINEL_PASSWORD: 'guarded' });
      await api.awaitProbe('/readyz');
      for (const more of [{}, { REDIS_SENTINEL_PASSWORD: 'wrong' }] as Record<string, string>[]) {
        const startedAt = Date.now();
        const faults = ofQueue(await diagnose({ ...environment, ...more })).filter(({ ok }) => !ok);
        expect(faults).toEqual([expect.objectContaining({ mend: expect.stringContaining('REDIS_SENTINEL_PASSWORD') })]);
        expect(Date.now() - startedAt).toBeLessThan(90_000);
      }
    } finally {
      await sentinel.stop();
    }
  }, 300_000);
});
