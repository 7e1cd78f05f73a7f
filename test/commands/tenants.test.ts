import { describe, expect, test } from 'vitest';
import { createCommandLine } from '../support/command-line.ts';
import type { TestDatabase } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

/** Adds answers and their card records to the tenant with this unique name. */
const giveAnswers = (database: TestDatabase, name: string, count: number) =>
  database.query(
    `with made as (
       insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
         state, "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
       select tenants.id, gen_random_uuid(), number::text, true, tenants.id, tenants.id, 1, 1, 'seen', '{}', '{}', '', '{}',
         now(), now(), now()
       from tenants, generate_series(1, $2) as number where name = $1 returning tenant_id, identity)
     insert into card_records select tenant_id, identity, true, tenant_id, now() from made`,
    [name, count],
  );

const countAnswers = async (database: TestDatabase): Promise<number> =>
  (await database.query<{ count: number }>('select count(*)::int as count from answers'))[0]?.count ?? 0;

describe('tenant delete', () => {
  test('deletes one of the listed tenants and prints the deleted counts', async () => {
    await using cli = await createCommandLine();
    const gone = await cli.json(['tenant', 'create', '--name', 'Gone & forgotten']);
    const kept = await cli.json(['tenant', 'create', '--name', 'Kept']);
    await cli.json(['api-key', 'create', '--tenant', gone.id, '--name', 'backend']);
    await giveAnswers(cli.database, 'Gone & forgotten', 3);
    await giveAnswers(cli.database, 'Kept', 2);
    expect((await cli.json(['tenant', 'list'])).data).toEqual([gone, kept]);

    const { code, stdout, stderr } = await cli.run([
      ...['tenant', 'delete', '--tenant', gone.id],
      ...['--confirm', 'Gone & forgotten'],
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/The tenant, its API keys and its team are deleted/);
    expect(JSON.parse(stdout)).toEqual({
      id: gone.id,
      deleted_at: expect.any(String),
      deleted: {
        ...{ tenants: 1, api_keys: 1, members: 0, invitations: 0 },
        ...{ accounts: 0, sessions: 0, account_links: 0, account_subjects: 0 },
        ...{ answers: 3, card_records: 3, audit_log: 2, events: 1 },
      },
    });
    expect((await cli.json(['tenant', 'list'])).data).toEqual([kept]);
    expect(await countAnswers(cli.database)).toBe(2);
    expect(await cli.database.query('select from vanished_answers')).toEqual([]);
    const again = await cli.json(['tenant', 'delete', '--tenant', gone.id]);
    expect(again).toMatchObject({ id: gone.id, deleted: {} });
  }, 300_000);

  test('deletes nothing without the name, with a wrong name, or for an unknown tenant', async () => {
    await using cli = await createCommandLine();
    const { id } = await cli.json(['tenant', 'create', '--name', 'Acme']);
    const faults: [string[], RegExp][] = [
      [['--tenant', id], /--confirm is required/],
      [['--tenant', id, '--confirm', 'acme'], /--confirm: does not match the tenant's name, which is "Acme"/],
      [['--tenant', 'tenant_nobody', '--confirm', 'Acme'], /--tenant: tenant not found/],
      [['--tenant', 'tenant_00000000008008000000000001', '--confirm', 'Acme'], /--tenant: tenant not found/],
    ];
    for (const [args, complaint] of faults) {
      const { code, stdout, stderr } = await cli.run(['tenant', 'delete', ...args]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(complaint);
    }
    expect((await cli.json(['tenant', 'list'])).data).toHaveLength(1);
  }, 300_000);

  test('that is killed halfway is completed by the next run, without the name', async () => {
    await using cli = await createCommandLine();
    const { id } = await cli.json(['tenant', 'create', '--name', 'Acme']);
    await giveAnswers(cli.database, 'Acme', 30_000);
    await using killed = await startProcess(`tenant delete --tenant ${id} --confirm Acme`, cli.environment);
    await waitFor(async () => (await countAnswers(cli.database)) < 30_000);
    killed.kill('SIGKILL');
    expect(await killed.exited).toBe('SIGKILL');
    const left = await countAnswers(cli.database);
    expect(left).toBeGreaterThan(0);
    const { deleted } = await cli.json(['tenant', 'delete', '--tenant', id]);
    expect(deleted.answers).toBeLessThanOrEqual(left); // the killed process may have committed another batch
    expect(await countAnswers(cli.database)).toBe(0);
    expect(await cli.database.query('select from card_records')).toEqual([]);
    expect(await cli.database.query('select from vanished_answers')).toEqual([]);
  }, 300_000);
});
