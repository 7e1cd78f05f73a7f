import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Deployed, Tenant } from '../support/deployed.ts';
import { anAnswer } from '../support/make.ts';
import { waitFor } from '../support/wait.ts';
import { createInstallation, type Installation, WORKLOADS } from './installation.ts';

describe.runIf(inject('cluster'))('day two, with commands in a pod', () => {
  let installation: Installation;
  let api: Deployed;
  let tenant: Tenant;
  beforeAll(async () => {
    installation = await createInstallation();
    await installation.install();
    api = await installation.open();
    tenant = await api.makeTenant();
  });
  afterAll(() => installation?.[Symbol.asyncDispose]());

  const asTeam = (method: string, path: string, body?: unknown) => api.request(method, path, tenant.key.api_key, body);
  const query = (sql: string) => {
    const psql = ['psql', '--username', 'parley', '--dbname', 'parley', '--command', sql];
    return installation.kubectl(['exec', 'parley-postgresql-0', '--container', 'postgresql', '--', ...psql]);
  };

  test('the doctor looks at stores, roles and queue, and finds all well', async () => {
    const { ok, checks } = await installation.parley(['doctor']);
    expect({ ok, ill: checks.filter((check: { ok: boolean }) => !check.ok) }).toEqual({ ok: true, ill: [] });
    expect(checks.length).toBeGreaterThan(4);
  });

  test('an answer at odds with a stored one is listed in the quarantine, and stored by a replay', async () => {
    const answer = anAnswer({ question_id: tenant.questionId, identity: 'user|42' });
    expect((await asTeam('POST', '/v1/answers', { answers: [answer] })).status).toBe(202);
    await api.atRest(tenant.key.api_key);
    await installation.kubectl(['rollout', 'restart', WORKLOADS.api]); // the process that took it would refuse the other
    await installation.settled(['api']);
    const atOdds = { ...answer, values: { main: 1 } };
    expect((await asTeam('POST', '/v1/answers', { answers: [atOdds] })).status).toBe(202);
    const [entry] = await waitFor(async () => {
      const { data } = (await asTeam('GET', '/v1/quarantine')).body;
      return data.length > 0 && data;
    });
    expect(entry).toMatchObject({ answer_id: answer.id, reason: 'revision-conflict' });
    await query(`delete from answers where id = '${answer.id}'`);
    expect((await asTeam('POST', `/v1/quarantine/${entry.id}/replay`)).status).toBe(200);
    await waitFor(async () => (await asTeam('GET', '/v1/quarantine')).body.data.length === 0);
    expect((await asTeam('GET', `/v1/answers/${answer.id}`)).body.values).toEqual({ main: 1 });
  });
});
