import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '@node-rs/argon2';
import { describe, expect, test } from 'vitest';
import { createCommandLine } from '../support/command-line.ts';
import { runCommand } from '../support/process.ts';

describe('the command line', () => {
  test('creates tenants, keys and members, each printed as one JSON object', async () => {
    await using cli = await createCommandLine();
    const created = await cli.execute(['tenant', 'create', '--name', 'Acme']);
    const tenant = JSON.parse(created.stdout);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(tenant).toMatchObject({ id: expect.stringMatching(/^tenant_/), name: 'Acme', cooldown_days: 7 });

    const server = await cli.json([
      'api-key',
      'create',
      '--tenant',
      tenant.id,
      '--name',
      'be',
      '--scopes',
      'answers:read,questions:write',
    ]);
    expect(server).toMatchObject({ kind: 'server', status: 'active', scopes: ['answers:read', 'questions:write'] });
    expect(server.secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(server.api_key).toMatch(/^sk_/);
    const open = await cli.json(['api-key', 'create', '--tenant', tenant.id, '--name', 'web', '--public']);
    expect(open.kind).toBe('public');
    expect(open).not.toHaveProperty('secret');
    expect(open).not.toHaveProperty('api_key');

    const rotated = await cli.json(['api-key', 'rotate', '--id', server.id, '--overlap-hours', '2']);
    expect(rotated.status).toBe('rotating');
    expect(rotated.secret).not.toBe(server.secret);
    expect(await cli.json(['api-key', 'revoke', '--id', server.id])).toMatchObject({ status: 'revoked' });
    const { data } = await cli.json(['api-key', 'list', '--tenant', tenant.id]);
    expect(data.map((key: { status: string }) => key.status)).toEqual(['revoked', 'active']);
    expect(JSON.stringify(data)).not.toMatch(/secret|api_key/);

    const password = 'correct horse battery';
    const member = await cli.json(
      ['member', 'create', '--tenant', tenant.id, '--email', 'Ann@Example.com', '--role', 'owner'],
      `${password}\n`,
    );
    expect(member).toMatchObject({ email: 'ann@example.com', role: 'owner' });
    expect(member).not.toHaveProperty('password_hash');
    const [row] = await cli.database.query<{ password_hash: string }>('select password_hash from accounts');
    expect(row?.password_hash).toMatch(/^\$argon2id\$/);
    expect(await verify(row?.password_hash ?? '', password)).toBe(true);

    const second = await cli.json(['tenant', 'create', '--name', 'Second']);
    const joining = ['member', 'create', '--tenant', second.id, '--email', 'ann@example.com', '--role', 'agent'];
    expect((await cli.execute(joining, 'not her own password\n')).stderr).toMatch(/--email: an account/);
    expect(await cli.json(joining, `${password}\n`)).toMatchObject({ email: 'ann@example.com', role: 'agent' });
    const lines = await cli.database.query<{ action: string }>(
      `select action from audit_log where actor_type = 'system' order by at, id`,
    );
    expect(lines.map(({ action }) => action)).toEqual([
      'tenant.created',
      'api_key.created',
      'api_key.created',
      'api_key.rotated',
      'api_key.revoked',
      'member.created',
      'tenant.created',
      'member.created',
    ]);
    expect((await cli.run(['setup', 'create'])).stderr).toMatch(/an owner already exists/);
    const reset = await cli.json(['password-reset', 'create', '--email', 'Ann@Example.com']);
    expect(reset.link).toMatch(/^http:\/\/localhost:3000\/dashboard\/reset#token=[\w-]{43}$/);
  });

  test('rebuilds results, of one tenant or of all', async () => {
    await using cli = await createCommandLine();
    const [{ id }] = [await cli.json(['tenant', 'create', '--name', 'Acme'])];
    await cli.json(['tenant', 'create', '--name', 'Other']);
    await cli.database.query(
      `insert into questions (tenant_id, id, name, status, version, type, title, description, config, frequency,
         allow_public, priority, created_at, updated_at)
       select id, gen_random_uuid(), 'x', 'live', 1, 'nps', 'x', '', '{}', '{}', false, 0, now(), now() from tenants`,
    );
    await cli.database.query(
      `insert into question_results select tenant_id, id, '2026-11-21', 1, true, 5, 0, 0, 0, 0, array_fill(0, array[11]), '{}'
       from questions`,
    );
    const counted = () => cli.database.query('select tenant_id from question_results');
    expect(await cli.json(['results', 'rebuild', '--tenant', id])).toEqual({ tenants: 1, questions: 1, corrected: 1 });
    expect(await counted()).toHaveLength(1);
    expect(await cli.json(['results', 'rebuild'])).toEqual({ tenants: 2, questions: 2, corrected: 1 });
    expect(await counted()).toEqual([]);
  });

  test('reports errors in one line on standard error, without changes', async () => {
    await using cli = await createCommandLine();
    const tenant = await cli.json(['tenant', 'create', '--name', 'Acme']);
    const faults: [string[], RegExp, string?][] = [
      [['tenant', 'create'], /--name is required/],
      [['api-key', 'create', '--tenant', 'tenant_nobody', '--name', 'x'], /--tenant: tenant not found/],
      [
        ['api-key', 'create', '--tenant', tenant.id, '--name', 'x', '--scopes', 'everything'],
        /--scopes: Must be "conv/,
      ],
      [
        ['api-key', 'create', '--tenant', tenant.id, '--name', 'x', '--expires-at', '2020-01-01T00:00:00Z'],
        /--expires-at: Must be in/,
      ],
      [['api-key', 'rotate', '--id', 'key_nobody'], /--id: API key not found/],
      [['api-key', 'rotate', '--wrong'], /--wrong/],
      [
        ['member', 'create', '--tenant', tenant.id, '--email', 'x', '--role', 'owner'],
        /--email: Must be an e-mail address such as/,
        'long enough password',
      ],
      [
        ['member', 'create', '--tenant', tenant.id, '--email', 'a@b.co', '--role', 'king'],
        /--role/,
        'long enough password',
      ],
      [
        ['member', 'create', '--tenant', tenant.id, '--email', 'a@b.co', '--role', 'owner'],
        /The password on standard input: Must have at least 12 characters\./,
        'short',
      ],
      [['tenant', 'destroy'], /unknown command "tenant destroy"/],
      [['results', 'rebuild', '--tenant', 'tenant_nobody'], /--tenant: tenant not found/],
    ];
    const ofExecutable = /unknown|--wrong|API key not found/; // the others would only start more processes
    expect(faults.filter(([, complaint]) => ofExecutable.test(complaint.source))).toHaveLength(3);
    for (const [args, complaint, input] of faults) {
      const { code, stdout, stderr } = await (ofExecutable.test(complaint.source) ? cli.execute : cli.run)(args, input);
      expect(code).not.toBe(0);
      expect(stdout).toBe('');
      expect(stderr).toMatch(complaint);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(await cli.database.query('select from api_keys')).toHaveLength(0);
    expect(await cli.database.query('select from members')).toHaveLength(0);
  }, 300_000);

  test('creates the secrets of a Compose installation once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
    const first = JSON.parse((await runCommand(['secrets', 'create', '--dir', folder], {})).stdout);
    expect(first.created.sort()).toEqual(readdirSync(folder).sort());
    const before = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'));
    const second = JSON.parse((await runCommand(['secrets', 'create', '--dir', folder], {})).stdout);
    expect(second.created).toEqual([]);
    expect(readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))).toEqual(before);
    rmSync(folder, { recursive: true });
  });
});
