import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, describeSettings, loadConfig } from '../../src/platform/config.ts';
import { supportsProxies } from '../../src/platform/outbound-proxy.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');

function faultsOf(environment: Record<string, string>): string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('the configuration', () => {
  test('has a default for each setting, and builds URLs from the port', () => {
    const config = loadConfig({ PORT: '4000' });
    expect(config).toMatchObject({ PORT: 4000, METRICS_PORT: 9464, HOST: '127.0.0.1', QUEUE_DURABILITY: 'strict' });
    expect(config.BASE_URL).toBe('http://localhost:4000');
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('reports all faults at once, by the name of the variable', () => {
    const faults = faultsOf({ PORT: 'eighty', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://x', RATE_LIMITS: 'maybe' });
    expect(faults).toHaveLength(5);
    for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL', 'RATE_LIMITS', 'SECRET_KEY'])
      expect(faults.some(fault => fault.startsWith(`${name}:`))).toBe(true);
  });

  test('treats an empty variable as unset', () => {
    expect(loadConfig({ REDIS_URL: '', PORT: '' })).toMatchObject({ PORT: 3000, REDIS_URL: undefined });
  });

  test('rejects a secret key of the wrong length, and a database without one', () => {
    expect(faultsOf({ SECRET_KEY: 'c2hvcnQ=' })[0]).toMatch(/^SECRET_KEY: must be 32 bytes/);
    expect(faultsOf({ DATABASE_URL: 'postgresql://x/y' })[0]).toMatch(/^SECRET_KEY: is required/);
    expect(faultsOf({ DATABASE_URL: 'postgresql://x/y', SECRET_KEY: KEY })).toEqual([]);
  });

  test('reads secrets from files, and rejects duplicates and missing files', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'parley-config-')), 'url');
    writeFileSync(file, 'postgresql://from/file\n');
    expect(loadConfig({ DATABASE_URL_FILE: file, SECRET_KEY: KEY }).DATABASE_URL).toBe('postgresql://from/file');
    const twice = faultsOf({ DATABASE_URL_FILE: file, DATABASE_URL: 'postgresql://x/y', SECRET_KEY: KEY });
    expect(twice[0]).toMatch(/DATABASE_URL: set either DATABASE_URL or DATABASE_URL_FILE/);
    expect(faultsOf({ SECRET_KEY_FILE: `${file}-missing` })[0]).toMatch(/^SECRET_KEY_FILE: ENOENT/);
  });

  test('rejects a login in SMTP_URL that is not percent-encoded', () => {
    const faultsOfUrl = (SMTP_URL: string) => faultsOf({ SMTP_URL, MAIL_FROM: 'parley@acme.example' });
    for (const password of ['12/34', '12?34', '12#34', 'PQRS/WXYZ', 'Gitw50#2'])
      expect(faultsOfUrl(`smtps://parley:${password}@smtp.acme.example`).join()).toMatch(/has \/, \? or # in its user/);
    for (const url of [
      'smtp://me@acme.example:p%2F@mail',
      'smtp://mail:25?requireTLS=true',
      'smtps://u:50%25@mail:465/',
    ])
      expect(faultsOfUrl(url)).toEqual([]);
  });

  test('rejects a MAIL_FROM without one address', () => {
    const faultsOfSender = (MAIL_FROM: string) => faultsOf({ SMTP_URL: 'smtp://mail', MAIL_FROM });
    for (const from of ['Parley', 'Parley parley@acme.example', '"Parley <parley@acme.example>"', 'a@b.c, d@e.f', '<>'])
      expect(faultsOfSender(from)).toEqual([expect.stringMatching(/^MAIL_FROM: must be an address such as/)]);
    for (const from of ['Acme, Inc. <parley@acme.example>', '"Acme" <parley@acme.example>', 'root@localhost'])
      expect(faultsOfSender(from)).toEqual([]);
  });

  const oidc = (issuer: string) => ({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'parley',
    OIDC_CLIENT_SECRET: 'secret',
    OIDC_TRUST_EMAIL: 'issuer',
  });

  test.each([
    'https://accounts.google.com',
    'https://login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.com/Organizations/v2.0/',
    'https://login.microsoftonline.com/consumers/v2.0/.well-known/openid-configuration',
    'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    'https://login.microsoftonline.us/common/v2.0',
    'https://sts.windows.net/common/',
    'https://gitlab.com',
    'https://login.salesforce.com',
  ])('refuses OIDC_TRUST_EMAIL=issuer for %s, which serves many directories', issuer => {
    expect(faultsOf(oidc(issuer))[0]).toMatch(/^OIDC_TRUST_EMAIL: issuer is refused/);
    expect(faultsOf({ ...oidc(issuer), OIDC_TRUST_EMAIL: 'claim' })).toEqual([]);
  });

  test.each([
    'https://login.microsoftonline.com/4f1c2d3e-0000-4000-8000-000000000001/v2.0',
    'https://login.microsoftonline.com/acme.onmicrosoft.com/v2.0',
    'https://acme.okta.com',
    'https://gitlab.acme.example',
    'https://acme.my.salesforce.com',
    'https://auth.acme.example/application/o/parley/',
  ])('accepts OIDC_TRUST_EMAIL=issuer for the one directory of %s', issuer => {
    expect(loadConfig(oidc(issuer))).toMatchObject({ OIDC_ISSUER: issuer, OIDC_EMAIL_CLAIM: 'email' });
    const metadata = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    expect(loadConfig(oidc(metadata)).OIDC_ISSUER).toBe(issuer.replace(/\/$/, ''));
  });

  test('inserts a separate password into the URL, with any characters', () => {
    const awkward = 'p@ss:w/rd %41#?+';
    const { DATABASE_URL, REDIS_URL } = loadConfig({
      DATABASE_URL: 'postgresql://parley:old@db:5432/parley?sslmode=disable',
      DATABASE_PASSWORD: awkward,
      REDIS_URL: 'rediss://valkey:6379/1',
      REDIS_PASSWORD: awkward,
      SECRET_KEY: KEY,
    });
    expect(decodeURIComponent(new URL(DATABASE_URL as string).password)).toBe(awkward);
    expect(DATABASE_URL).toMatch(/^postgresql:\/\/parley:[^@]+@db:5432\/parley\?sslmode=disable/);
    expect(decodeURIComponent(new URL(REDIS_URL as string).password)).toBe(awkward);
    expect(REDIS_URL).toMatch(/^rediss:\/\/:[^@]+@valkey:6379\/1$/);
  });

  test('rejects a password without its URL', () => {
    expect(faultsOf({ DATABASE_PASSWORD: 'x', REDIS_PASSWORD: 'y' })).toEqual([
      expect.stringMatching(/^DATABASE_PASSWORD: requires DATABASE_URL/),
      expect.stringMatching(/^REDIS_PASSWORD: requires REDIS_URL/),
    ]);
  });

  test('accepts an HTTP URL, a known sampler and a ratio for traces', () => {
    const endpoint = 'http://collector:4318';
    expect(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: '0.25' })).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 0.25,
    });
    const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317', OTEL_TRACES_SAMPLER: 'jaeger_remote' };
    const faults = faultsOf({ ...wrong, OTEL_TRACES_SAMPLER_ARG: '25 %' });
    expect(faults.map(fault => fault.split(':')[0]).sort()).toEqual([
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_TRACES_SAMPLER',
      'OTEL_TRACES_SAMPLER_ARG',
    ]);
  });

  test.each([
    ['https://parley.example/', 'https://parley.example'],
    ['https://parley.example', 'https://parley.example'],
    ['HTTPS://Parley.Example:443', 'https://parley.example'],
    ['http://[::1]:3000/', 'http://[::1]:3000'],
  ])('accepts the base URL %s as %s', (given, origin) => {
    expect(loadConfig({ BASE_URL: given }).BASE_URL).toBe(origin);
  });

  test.each(['/feedback', '/feedback/', '//feedback', '/?', '?a=b', '/#', '#top', '/.well-known'])(
    'rejects the base URL https://parley.example%s, because Parley needs the root of its host',
    more => {
      expect(faultsOf({ BASE_URL: `https://parley.example${more}` })).toEqual([
        expect.stringMatching(/^BASE_URL: must not have a path.*\/v1, \/dashboard and \/docs at the root of its host/),
      ]);
    },
  );

  test('rejects a base URL with credentials, or that is no URL', () => {
    expect(faultsOf({ BASE_URL: 'https://user:password@parley.example' })).toHaveLength(1);
    for (const wrong of ['parley.example', 'ftp://parley.example', 'https://'])
      expect(faultsOf({ BASE_URL: wrong })).toEqual([expect.stringMatching(/^BASE_URL: must be a URL/)]);
  });

  test('parses the networks that webhooks may reach, and allows neither http nor private addresses by default', () => {
    expect(loadConfig({})).toMatchObject({
      OUTBOUND_ALLOW: undefined,
      OUTBOUND_HTTP: 'off',
      OUTBOUND_PROXY: undefined,
    });
    expect(loadConfig({ OUTBOUND_ALLOW: '10.1.0.0/16, fd00::/8' }).OUTBOUND_ALLOW).toEqual([
      { address: '10.1.0.0', prefix: 16 },
      { address: 'fd00::', prefix: 8 },
    ]);
    expect(faultsOf({ OUTBOUND_ALLOW: '10.1.0.0/16,intranet' })[0]).toMatch(/^OUTBOUND_ALLOW: must be networks/);
    expect(faultsOf({ OUTBOUND_PROXY: 'proxy:3128' })[0]).toMatch(/^OUTBOUND_PROXY: must be a URL/);
  });

  test('rewrites or rejects a proxy that Node would ignore', () => {
    for (const proxy of ['HTTP://proxy:3128', 'Http://proxy:3128', ' http://proxy:3128'])
      expect(loadConfig({ OUTBOUND_PROXY: proxy }).OUTBOUND_PROXY).toBe('http://proxy:3128');
    for (const proxy of ['http:proxy:3128', 'http:/proxy:3128', 'socks5://proxy:1080'])
      expect(faultsOf({ OUTBOUND_PROXY: proxy })).toEqual([expect.stringMatching(/^OUTBOUND_PROXY: must be a URL/)]);
  });

  test('rejects parts of a proxy that have no effect, or that Node cannot decode', () => {
    for (const end of ['/proxy.pac', '/?', '?a=b', '#a'])
      expect(faultsOf({ OUTBOUND_PROXY: `http://proxy:3128${end}` })).toEqual([
        'OUTBOUND_PROXY: must not have a path or query, which a proxy does not receive',
      ]);
    expect(faultsOf({ OUTBOUND_PROXY: 'http://parley:100%zz@proxy:3128' })).toEqual([
      'OUTBOUND_PROXY: must have a URL-encoded user name and password',
    ]);
    for (const proxy of ['http://proxy', 'https://parley:p%40ss@proxy:3128/', 'http://[::1]:3128'])
      expect(loadConfig({ OUTBOUND_PROXY: proxy }).OUTBOUND_PROXY).toBe(proxy);
  });

  test('rejects a proxy under a Node that would send webhooks directly, and only there', () => {
    expect(supportsProxies()).toBe(true);
    expect(() => loadConfig({ OUTBOUND_PROXY: 'http://proxy:3128' }, false)).toThrow(/ignored by Node .* directly/);
    expect(loadConfig({}, false).OUTBOUND_PROXY).toBeUndefined();
  });

  test('npm start sets flags of Node without replacing NODE_OPTIONS of the operator', () => {
    const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    expect(read('.npmrc')).not.toMatch(/^node-options/m);
    const { scripts, engines, devEngines } = JSON.parse(read('package.json'));
    for (const role of ['start', 'serve', 'work'])
      expect(scripts[role]).toBe(`node --max-semi-space-size=16 src/main.ts ${role}`);
    expect([engines.node, devEngines.runtime.version]).toEqual(['>=24.5', '>=20']); // to run it; to run npm
  });

  test('has a description for every setting', () => {
    for (const { name, meaning } of describeSettings()) expect(`${name}: ${meaning}`).toMatch(/^[A-Z_]+: .{10,}/);
  });
});
