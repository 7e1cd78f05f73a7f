import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSettings } from '../../src/platform/config.ts';
import { tryDocker } from './docker.ts';

/** Settings with values that docker-compose.yml determines: ports, stores, secret keys and the data folder. */
const SET_BY_COMPOSE = [
  'PORT',
  'HOST',
  'METRICS_PORT',
  'DATABASE_URL',
  'DATABASE_PASSWORD',
  'DATABASE_DIRECT_URL',
  'DATABASE_SERVICE_URL',
  'DATABASE_API_URL',
  'DATABASE_ROLE_PREFIX',
  'REDIS_URL',
  'REDIS_PASSWORD',
  'REDIS_SENTINEL_USERNAME',
  'REDIS_SENTINEL_PASSWORD',
  'DATA_DIR',
  'SECRET_KEY',
  'SECRET_KEY_OTHERS',
];

test('every setting of .env reaches API and worker, except for those that Compose sets', async () => {
  const names = describeSettings().map(({ name }) => name);
  const folder = mkdtempSync(join(tmpdir(), 'parley-env-'));
  const file = join(folder, '.env');
  writeFileSync(file, names.map(name => `${name}=of-${name}\n`).join(''));
  const unset = Object.fromEntries(names.map(name => [name, undefined])); // the shell has precedence over .env
  const { code, stdout, stderr } = await tryDocker(['compose', '--env-file', file, 'config', '--format', 'json'], {
    environment: unset,
  });
  rmSync(folder, { recursive: true });
  expect(code, stderr).toBe(0);
  const { services } = JSON.parse(stdout);
  for (const service of ['api', 'worker', 'migrate']) {
    const { environment } = services[service];
    const missing = names.filter(name => environment[name] !== `of-${name}`);
    expect(missing, service).toEqual(SET_BY_COMPOSE);
  }
});
