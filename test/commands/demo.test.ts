import { describe, expect, test } from 'vitest';
import { createCommandLine } from '../support/command-line.ts';

type CommandLine = Awaited<ReturnType<typeof createCommandLine>>;

/** The number of rows of a tenant in every table that has `tenant_id`. */
async function rowsOf({ database }: CommandLine, tenantId: string): Promise<Record<string, number>> {
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where column_name = 'tenant_id' and table_schema = 'public' order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from ${name} where tenant_id = $1`,
      [tenantId],
    );
    if (row?.count) counts[name] = row.count;
  }
  return counts;
}

const uuidOf = async ({ database }: CommandLine, name: string): Promise<string> =>
  (await database.query<{ id: string }>('select id from tenants where name = $1', [name]))[0]?.id ?? '';

/** An installation with a tenant of its own, whose owner is Ada. */
async function createInstallation() {
  const cli = await createCommandLine();
  const own = await cli.json(['tenant', 'create', '--name', 'Acme']);
  await cli.json(
    ['member', 'create', '--tenant', own.id, '--email', 'ada@acme.example', '--role', 'owner'],
    'correct horse battery staple',
  );
  return { cli, own };
}

describe('demo', () => {
  test('create fills a tenant of its own, and delete removes every row of it and of no other', async () => {
    const { cli, own } = await createInstallation();
    await using _ = cli;
    const before = await rowsOf(cli, await uuidOf(cli, 'Acme'));
    const demo = await cli.json(['demo', 'create', '--owner', 'ada@acme.example']);
    expect(demo).toMatchObject({ name: 'Nordlicht Coffee (demo)', demo: true });
    expect(demo.id).not.toBe(own.id);
    expect(demo.created).toMatchObject({ questions: 6, profiles: 40, conversations: 8 });
    expect(demo.created.answers).toBeGreaterThan(500);
    const uuid = await uuidOf(cli, demo.name);
    expect(await rowsOf(cli, uuid)).toMatchObject({
      ...{ members: 1, questions: 6, question_versions: 6, conversations: 8, identities: 40, ingestion_totals: 1 },
      answers: demo.created.answers,
    });
    expect(await rowsOf(cli, await uuidOf(cli, 'Acme'))).toEqual(before);
    expect(own.demo).toBe(false);
    const days = await cli.database.query<{ days: number }>(
      'select count(distinct received_at::date)::int as days from answers where tenant_id = $1',
      [uuid],
    );
    expect(days[0]?.days).toBeGreaterThan(35);

    const { deleted } = await cli.json(['demo', 'delete', '--tenant', demo.id]);
    expect(deleted).toMatchObject({ tenants: 1, members: 1, answers: demo.created.answers, conversations: 8 });
    expect(await rowsOf(cli, uuid)).toEqual({});
    expect(await rowsOf(cli, await uuidOf(cli, 'Acme'))).toEqual(before);
    expect((await cli.json(['tenant', 'list'])).data).toEqual([own]);
    expect(await cli.database.query('select from accounts')).toHaveLength(1);
    expect(await cli.database.query('select from vanished_answers')).toEqual([]);
  }, 300_000);

  test('the results of the data equal a recount', async () => {
    const { cli } = await createInstallation();
    await using _ = cli;
    const { id } = await cli.json(['demo', 'create', '--owner', 'ada@acme.example']);
    expect(await cli.json(['results', 'rebuild', '--tenant', id])).toMatchObject({ questions: 6, corrected: 0 });
  }, 300_000);

  test('delete refuses a tenant that is not a demo, and create an address without an account', async () => {
    const { cli, own } = await createInstallation();
    await using _ = cli;
    const refused = await cli.run(['demo', 'delete', '--tenant', own.id]);
    expect([refused.code, refused.stderr]).toEqual([1, 'parley: --tenant: is not a demo tenant; see tenant delete\n']);
    const unknown = await cli.run(['demo', 'create', '--owner', 'nobody@acme.example']);
    expect([unknown.code, unknown.stderr]).toEqual([1, 'parley: --owner: no account has this address\n']);
    expect((await cli.json(['tenant', 'list'])).data).toEqual([own]);
  }, 300_000);
});
