import { expect, test } from 'vitest';
import { ConfigError, describeSettings, loadConfig } from '../../src/platform/config.ts';
import { findMisspelt } from '../../src/platform/misspelt-settings.ts';

const names = describeSettings().map(({ name }) => name);
const misspelt = (environment: Record<string, string>) => findMisspelt(environment, names);

test.each([
  ['QUEUE_DURABILTY', 'QUEUE_DURABILITY'],
  ['QUEUE_DURABLITIY', 'QUEUE_DURABILITY'],
  ['DATABASE_POLO', 'DATABASE_POOL'],
  ['LOG_LVL', 'LOG_LEVEL'],
  ['BASE_URI', 'BASE_URL'],
  ['TRUSTED_PROXY_HOP', 'TRUSTED_PROXY_HOPS'],
  ['ATABASE_URL', 'DATABASE_URL'],
  ['SECRET_KEYS', 'SECRET_KEY'],
])('%s is reported as a misspelt %s', (name, setting) => {
  expect(misspelt({ [name]: 'x' })).toEqual([
    `${name}: is not a setting and is ignored. If you mean ${setting}, correct the name`,
  ]);
});

test.each([
  'PATH',
  'HOME',
  'HOSTNAME',
  'PORTS',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'KUBERNETES_PORT',
  'DATABASE_HOST',
  'DATABASE_PORT',
  'DATABASE_USER',
  'DATABASE_DATABASE',
  'REDIS_HOST',
  'REDIS_PORT',
  'REDIS_USER',
  'AMQP_URL',
  'HTTP_URL',
  'DATABASE_URL_FILE',
  'OTEL_TRACES_EXPORTER',
  'QUEUE_DURABILTIYYY',
])('%s is not taken for a setting', name => {
  expect(misspelt({ [name]: 'x' })).toEqual([]);
});

test('no setting is taken for a misspelt other one, and an empty variable is absent', () => {
  expect(misspelt(Object.fromEntries(names.map(name => [name, 'x'])))).toEqual([]);
  expect(misspelt({ QUEUE_DURABILTY: '' })).toEqual([]);
});

test('a variable of another program does not stop the start, and faults are reported with the misspelt settings', () => {
  expect(loadConfig({ BASE_URI: 'https://x' })).toMatchObject({
    BASE_URL: 'http://localhost:3000',
    misspelt: [expect.stringContaining('If you mean BASE_URL')],
  });
  expect(() => loadConfig({ BASE_URI: 'https://x', PORT: 'x' })).toThrow(/PORT.*\n.*BASE_URI: is not a setting/);
  expect(() => loadConfig({ QUEUE_DURABILTY: 'relaxed', PORT: 'x' })).toThrow(ConfigError);
  expect(loadConfig({ SECRET_KEY_FIEL: '/x' }).misspelt).toEqual([expect.stringContaining('SECRET_KEY_FILE')]);
});
