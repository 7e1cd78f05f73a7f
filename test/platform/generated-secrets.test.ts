import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSecrets } from '../../src/commands/secrets.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { loadOrCreateSecretKey } from '../../src/platform/embedded-postgres.ts';
import { randomSecret } from '../../src/platform/secrets.ts';

function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const bytesIn = (text: string, encoding: 'base64' | 'base64url' | 'hex'): number => Buffer.from(text, encoding).length;

/** Whether Parley accepts a value as `SECRET_KEY`. */
const isAccepted = (SECRET_KEY: string): boolean => {
  try {
    return loadConfig({ SECRET_KEY }).SECRET_KEY === SECRET_KEY;
  } catch {
    return false;
  }
};

describe('a generated SECRET_KEY', () => {
  test('of the embedded mode has 32 random bytes, which only its owner can read, and stays the same', () => {
    using folder = temporaryFolder();
    using other = temporaryFolder();
    const key = loadOrCreateSecretKey(folder.path);
    expect([bytesIn(key, 'base64'), isAccepted(key)]).toEqual([32, true]);
    expect(statSync(join(folder.path, 'secret_key')).mode & 0o777).toBe(0o600);
    expect(loadOrCreateSecretKey(folder.path)).toBe(key);
    expect(loadOrCreateSecretKey(other.path)).not.toBe(key);
  });

  test('of a Compose installation has 32 random bytes, as its passwords have', () => {
    using folder = temporaryFolder();
    using other = temporaryFolder();
    for (const { path } of [folder, other]) createSecrets(path);
    const read = (name: string, { path } = folder) => readFileSync(join(path, name), 'utf8');
    expect([bytesIn(read('secret_key'), 'base64'), isAccepted(read('secret_key'))]).toEqual([32, true]);
    for (const name of ['postgres_password', 'valkey_password'])
      expect([name, bytesIn(read(name), 'hex')]).toEqual([name, 32]);
    for (const name of ['secret_key', 'postgres_password', 'valkey_password'])
      expect(read(name)).not.toBe(read(name, other));
    const kept = read('secret_key');
    expect(createSecrets(folder.path).created).toEqual([]);
    expect(read('secret_key')).toBe(kept);
  });

  test('is not replaced where a database was set up with the lost one', () => {
    using folder = temporaryFolder();
    using database = temporaryFolder();
    createSecrets(folder.path, database.path); // the first start: the database's volume is still empty
    writeFileSync(join(database.path, 'PG_VERSION'), '18');
    expect(createSecrets(folder.path, database.path).created).toEqual([]);
    rmSync(join(folder.path, 'secret_key'));
    const before = readdirSync(folder.path);
    expect(() => createSecrets(folder.path, database.path)).toThrow(/contains no secret key, but there is a database/);
    expect(readdirSync(folder.path)).toEqual(before);
  });

  test('of four bytes is refused', () => {
    expect(isAccepted(Buffer.alloc(4, 7).toString('base64'))).toBe(false);
  });
});

test('the secrets of links, sessions and API keys have 32 random bytes', () => {
  expect(bytesIn(randomSecret(), 'base64url')).toBe(32);
  expect(randomSecret()).not.toBe(randomSecret());
});
