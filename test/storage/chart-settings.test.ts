import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { backends } from '../support/api.ts';
import { stores } from '../support/stores.ts';

const FILE = join(import.meta.dirname, '../../helm/postgresql-settings.txt');

/** The settings that PostgreSQL accepts as arguments, each with the form of its value. */
const FORMS = `
select name || ' ' || case when vartype = 'enum' then array_to_string(enumvals, '|') when vartype = 'string' then 'text'
    when unit ~ 'B$' then 'memory' when unit is not null then 'time' else vartype end as form
from pg_settings where context <> 'internal' and name !~ '[.]'`;

// The embedded PostgreSQL is built without some options, such as lz4, so it has fewer values.
test.runIf(backends().includes('valkey'))(
  'the chart knows every setting of the bundled PostgreSQL 18, and its form',
  async () => {
    const known = readFileSync(FILE, 'utf8').trimEnd().split('\n');
    const { version, forms } = await withClient((await stores()).postgresUrl, async client => ({
      version: Number((await client.query('show server_version_num')).rows[0].server_version_num),
      forms: (await client.query<{ form: string }>(FORMS)).rows.map(({ form }) => form),
    }));
    expect(Math.floor(version / 10_000)).toBe(18);
    expect(forms.filter(form => !known.includes(form))).toEqual([]);
    expect(known.length).toBeGreaterThan(350);
  },
);
