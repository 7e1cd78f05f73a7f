import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { findExcessRights, isOwner } from '../../src/storage/database/database-roles.ts';
import { createDatabase } from '../support/database.ts';

test('a user could read every tenant as a superuser, with bypassrls, or as the owner of the tables', async () => {
  await using database = await createDatabase();
  const name = `plain_${v7().replaceAll('-', '')}`;
  const url = new URL(database.url);
  url.username = url.password = name;
  const excess = () => findExcessRights(url.href);
  expect(await findExcessRights(database.url)).toBe('is a superuser');
  await database.query(`create role ${name} login password '${name}'`);
  try {
    expect(await excess()).toBeUndefined();
    await database.query(`alter role ${name} bypassrls`);
    expect(await excess()).toBe('bypasses row-level security');
    await database.query(`alter role ${name} nobypassrls; alter table api_keys owner to ${name}`);
    expect(await excess()).toBe('owns the tables');
  } finally {
    await database.query(`drop owned by ${name} cascade; drop role ${name}`);
  }
});

test('without tables, nobody is their owner', async () => {
  await using database = await createDatabase();
  await database.query('drop table api_keys cascade');
  expect(await withClient(database.url, isOwner)).toBe(false);
});
