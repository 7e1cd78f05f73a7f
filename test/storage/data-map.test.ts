import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedPart } from '../../docs/generated-part.ts';
import { privacyTables } from '../../docs/privacy-tables.ts';
import { JOBS } from '../../src/queue/jobs.ts';
import { JOB_FIELDS, STORES, TABLES } from '../../src/storage/data-map/data-map.ts';
import { type Fields, KINDS, type Kind, PERSONAL, type TableEntry } from '../../src/storage/data-map/entry.ts';
import { createDatabase } from '../support/database.ts';
import { filesUnder, ROOT, SRC } from '../support/modules.ts';
import { readColumns } from '../support/rows.ts';

const kinds = Object.keys(KINDS) as Kind[];
const namesIn = (text: string | undefined): string[] => text?.trim().split(/\s+/) ?? [];
const namesOf = (fields: Fields): string[] => kinds.flatMap(kind => namesIn(fields[kind]));
const tables = Object.values(TABLES).flatMap(entries => Object.entries(entries));

/** Every field of an entry as `<owner>.<field>`, in order; twice if it has two kinds. */
const fieldsOf = (entries: [string, Fields][]): string[] =>
  entries.flatMap(([owner, fields]) => namesOf(fields).map(name => `${owner}.${name}`)).sort();

const isPersonal = (entry: TableEntry): boolean => PERSONAL.some(kind => entry[kind] !== undefined);

test('each column of each table has one kind in the data map', async () => {
  await using database = await createDatabase();
  const columns = await readColumns(database);
  expect(columns.length).toBeGreaterThan(400);
  expect(fieldsOf(tables)).toEqual(columns.map(({ table, column }) => `${table}.${column}`).sort());
});

test('each other schema, and each prefix of keys in Valkey or Redis, is in the data map as a whole', async () => {
  await using database = await createDatabase();
  const schemas = await database.query<{ name: string }>(
    `select distinct schemaname as name from pg_tables
     where schemaname not in ('public', 'pg_catalog', 'information_schema')`,
  );
  const sources = ['queue', 'coordination'].flatMap(folder =>
    filesUnder(join(SRC, folder)).map(path => readFileSync(join(SRC, folder, path), 'utf8')),
  );
  const prefixes = sources.flatMap(text => [...text.matchAll(/['`](parley:[a-z]+):/g)].map(([, prefix]) => prefix));
  expect(new Set([...schemas.map(({ name }) => name), ...prefixes])).toEqual(new Set(Object.keys(STORES)));
});

/** The fields of a job's payload; those of an array's elements under `<job> <field>`. */
function fieldsOfJob(name: string, shape: object): string[] {
  return Object.entries(shape).flatMap(([field, { element }]) =>
    element?.shape ? fieldsOfJob(`${name} ${field}`, element.shape) : [`${name}.${field}`],
  );
}

test('each field of each job has one kind in the data map', () => {
  const found = Object.entries(JOBS).flatMap(([name, schema]) => fieldsOfJob(name, schema.shape));
  expect(found.length).toBeGreaterThan(30);
  expect(fieldsOf(Object.entries(JOB_FIELDS))).toEqual(found.sort());
});

test('a table with data of a person, and no other, says how an erasure and an export find and treat its rows', () => {
  const names = (chosen: [string, TableEntry][]) => chosen.map(([name]) => name);
  expect(names(tables.filter(([, { person }]) => person))).toEqual(
    names(tables.filter(([, entry]) => isPersonal(entry))),
  );
  for (const [name, entry] of tables) {
    if (!entry.person) continue;
    const { by, erasure } = entry.person;
    const own = namesOf(entry);
    if (by === 'identity') expect(own, name).toEqual(expect.arrayContaining(['identity', 'identity_verified']));
    const changed = typeof erasure === 'object' ? Object.entries(erasure).filter(([effect]) => effect !== 'keep') : [];
    for (const [, columns] of changed) expect(own, name).toEqual(expect.arrayContaining(namesIn(columns)));
  }
});

test('only logins and the audit log have a column for an address, as docs/privacy.md states', () => {
  const addresses = fieldsOf(tables).filter(name => /[._](ip|address)$|[._]ip_?addr/.test(name));
  expect(addresses).toEqual(['audit_log.ip', 'sessions.ip']);
});

test('docs/privacy.md has the tables as `node docs/privacy-tables.ts` writes them', () => {
  const page = readFileSync(join(ROOT, 'docs/privacy.md'), 'utf8');
  expect(generatedPart(page, 'data')).toBe(privacyTables());
});
