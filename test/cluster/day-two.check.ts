import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Deployed, Tenant } from '../support/deployed.ts';
import { runDocumented, shellBlocks } from '../support/documents.ts';
import { anAnswer } from '../support/make.ts';
import { signToken } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';
import { createInstallation, type Installation, UNLIMITED, WORKLOADS } from './installation.ts';

describe.runIf(inject('cluster'))('day two, with commands in a pod', () => {
  let installation: Installation;
  let api: Deployed;
  let tenant: Tenant;
  beforeAll(async () => {
    installation = await createInstallation();
    await installation.install(UNLIMITED);
    api = await installation.open();
    tenant = await api.makeTenant();
  });
  afterAll(() => installation?.[Symbol.asyncDispose]());

  const asTeam = (method: string, path: string, body?: unknown) => api.request(method, path, tenant.key.api_key, body);
  const query = (sql: string) => {
    const psql = ['psql', '--username', 'parley', '--dbname', 'parley', '--command', sql];
    return installation.kubectl(['exec', 'parley-postgresql-0', '--container', 'postgresql', '--', ...psql]);
  };

  test('the commands of the guide run in a pod', async () => {
    const [commands = ''] = shellBlocks('docs/kubernetes.md', 'Commands');
    const folder = mkdtempSync(join(tmpdir(), 'parley-guide-'));
    const environment = { KUBECONFIG: process.env.KUBECONFIG ?? '', NAMESPACE: installation.namespace };
    await runDocumented(`set -e\ncd ${folder}\n${commands}`, environment);
    expect(JSON.parse(readFileSync(join(folder, 'bundle.json'), 'utf8'))).not.toEqual({});
    rmSync(folder, { recursive: true });
  });

  test('the doctor checks stores, roles and queue, without findings', async () => {
    const { ok, checks } = await installation.parley(['doctor']);
    expect({ ok, ill: checks.filter((check: { ok: boolean }) => !check.ok) }).toEqual({ ok: true, ill: [] });
    expect(checks.length).toBeGreaterThan(4);
  });

  test('an answer in conflict with a stored one is quarantined, and stored by a replay', async () => {
    const answer = anAnswer({ question_id: tenant.questionId, identity: 'user|42' });
    expect((await asTeam('POST', '/v1/answers', { answers: [answer] })).status).toBe(202);
    await api.atRest(tenant.key.api_key);
    const [pod = ''] = await installation.pods('api'); // would reject the other database, and its connection is still open
    await installation.kubectl(['rollout', 'restart', WORKLOADS.api]);
    await waitFor(async () => !(await installation.pods('api')).includes(pod), 60_000, 500);
    const atOdds = { ...answer, values: { main: 1 } };
    expect((await asTeam('POST', '/v1/answers', { answers: [atOdds] })).status).toBe(202);
    const list = async () => (await installation.parley(['quarantine', 'list', '--tenant', tenant.id])).data;
    await api.atRest(tenant.key.api_key);
    const entries = await list();
    expect(entries).toMatchObject([{ answer_id: answer.id, reason: 'revision-conflict' }]);
    await query(`delete from answers where id = '${answer.id}'; delete from vanished_answers`); // no alert
    await installation.parley(['quarantine', 'replay', '--tenant', tenant.id]);
    await waitFor(async () => (await list()).length === 0, 30_000, 500);
    expect((await asTeam('GET', `/v1/answers/${answer.id}`)).body.values).toEqual({ main: 1 });
  });

  test('the secret key is rotated by three upgrades and a command, and tokens stay valid', async () => {
    const token = await signToken(tenant.key, tenant.id, 'user|42');
    const expectWell = async () => {
      expect(await installation.parley(['doctor'])).toMatchObject({ ok: true });
      expect((await api.request('GET', '/v1/cards', token)).status).toBe(200);
    };
    const { 'parley-secrets': former = {} } = await installation.secrets();
    const formerKey = Buffer.from(former['secret-key'] ?? '', 'base64').toString();
    const secretKey = randomBytes(32).toString('base64');
    await installation.upgrade({ ...UNLIMITED, secrets: { formerKeys: [secretKey] } });
    await expectWell();
    await installation.upgrade({ ...UNLIMITED, secrets: { secretKey, formerKeys: [formerKey] } });
    expect((await api.request('GET', '/v1/cards', token)).status).toBe(200);
    const owner = Buffer.from(former['postgresql-password'] ?? '', 'base64').toString();
    const DATABASE_URL = `postgresql://parley:${owner}@parley-postgresql:5432/parley`;
    const asOwner = ['env', 'DATABASE_URL_FILE=', `DATABASE_URL=${DATABASE_URL}`, 'parley', 'secrets', 'rotate'];
    await installation.kubectl(['exec', 'deployment/parley-api', '--container', 'api', '--', ...asOwner]);
    await expectWell();
    await installation.upgrade(UNLIMITED);
    await expectWell();
    const { 'parley-secrets': now = {} } = await installation.secrets();
    expect(Buffer.from(now['secret-key'] ?? '', 'base64').toString()).toBe(secretKey);
  });

  test('a support bundle has versions and figures, but no data of tenants and no secrets', async () => {
    const bundle = JSON.stringify(await installation.parley(['support-bundle']));
    expect(bundle.length).toBeGreaterThan(2000);
    const secrets = Object.values(await installation.secrets()).flatMap(data => Object.values(data));
    const passwords = secrets.map(value => Buffer.from(value, 'base64').toString());
    for (const word of ['Acme', tenant.key.secret, tenant.key.api_key, ...passwords])
      expect(bundle).not.toContain(word);
  });

  test('a tenant is deleted with its keys', async () => {
    const deleted = await installation.parley(['tenant', 'delete', '--tenant', tenant.id, '--confirm', 'Acme']);
    expect(deleted).toMatchObject({ id: tenant.id });
    await waitFor(async () => (await asTeam('GET', '/v1/ingestion')).status === 401);
  });
});
