import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Tenant } from '../support/deployed.ts';
import { runDocumented } from '../support/documents.ts';
import { anAnswer } from '../support/make.ts';
import { runTool } from '../support/tools.ts';
import { CHART, helm, ROOT } from './cluster.ts';
import { createInstallation, type Installation, WORKLOADS } from './installation.ts';
import { record, timed } from './results.ts';

const READY_WITHIN_S = 120;

/** The output of `helm template` for the chart, or its error message. */
const render = (...args: string[]): Promise<string> =>
  helm(['template', 'parley', CHART, '--kube-version', 'v1.35.4', ...args]).catch((error: Error) => error.message);

/** The command with these words in helm's output. */
function commandIn(notes: string, words: string): string {
  const line = notes.split('\n').find(each => /^\s+kubectl /.test(each) && each.includes(words));
  if (!line) throw new Error(`no command with "${words}" in:\n${notes}`);
  return line.trim();
}

describe.runIf(inject('cluster'))('helm install with default values', () => {
  let installation: Installation;
  let output = '';
  let tenant: Tenant;
  const answer = anAnswer({ identity: 'user|42' });

  beforeAll(async () => {
    installation = await createInstallation();
  });
  afterAll(() => installation?.[Symbol.asyncDispose]());

  /** Runs a function with the API on a local port. */
  const throughForward = async <T>(use: (baseUrl: string) => Promise<T>): Promise<T> => {
    await using api = await installation.forward('service/parley-api', 80);
    return await use(`http://127.0.0.1:${api.port}`); // keeps the port open until it is done
  };

  test('is ready within two minutes in a namespace that enforces "restricted"', async () => {
    const { result, seconds } = await timed('helm install, no values', () => installation.install());
    output = result;
    expect(seconds).toBeLessThanOrEqual(READY_WITHIN_S);
    expect(output).not.toMatch(/would violate/);
    expect(await installation.parley(['doctor'])).toMatchObject({ ok: true });
  });

  test('passes helm test', async () => {
    const { result } = await timed('helm test', () => installation.helm(['test', 'parley', '--timeout', '3m']));
    expect(result).toMatch(/Phase:\s+Succeeded/);
  });

  test('passes the demo through a port-forward', async () => {
    await timed('demo', () =>
      throughForward(BASE_URL => {
        const exec = ['exec', WORKLOADS.api, '--container', 'api', '--', 'parley'];
        const PARLEY_CLI = ['kubectl', '--namespace', installation.namespace, ...exec].join(' ');
        return runTool('node', ['docs/demo.ts'], { cwd: ROOT, environment: { BASE_URL, PARLEY_CLI } });
      }),
    );
  });

  test('prints the command for a setup link, and the link works', async () => {
    const KUBECONFIG = process.env.KUBECONFIG ?? '';
    const { link } = JSON.parse(await runDocumented(commandIn(output, 'setup create'), { KUBECONFIG }));
    const { origin, hash } = new URL(link);
    const person = { tenant_name: 'Acme', name: 'Ada', email: 'ada@acme.example', password: 'x'.repeat(12) };
    const reply = await throughForward(baseUrl =>
      fetch(`${baseUrl}/v1/setup`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: origin },
        body: JSON.stringify({ token: hash.replace('#token=', ''), ...person }),
      }),
    );
    expect(reply.status).toBe(201);
  });

  test('three upgrades change no secret and restart no pod', async () => {
    const secrets = await installation.secrets();
    expect(Object.keys(secrets)).toContain('parley-secrets');
    const containers = await installation.containers();
    for (let time = 1; time <= 3; time++) {
      await timed(`helm upgrade, time ${time}`, () => installation.upgrade());
      expect(await installation.secrets()).toEqual(secrets);
    }
    expect(await installation.containers()).toEqual(containers);
  });

  test('renders outside the cluster are rejected, or identical if the secrets are set', async () => {
    const refusals = [await render(), await render()];
    for (const refusal of refusals) expect(refusal).toMatch(/secrets\.existingSecret/);
    const given = ['--set', 'secrets.existingSecret=mine'];
    const once = await render(...given);
    expect(once).toMatch(/kind: Deployment/);
    expect(await render(...given)).toBe(once);
  });

  test('a rollback restores the previous state', async () => {
    await installation.upgrade({ worker: { replicas: 2 } });
    expect(await installation.pods('worker')).toHaveLength(2);
    await timed('helm rollback', () => installation.helm(['rollback', 'parley', '--wait', '--timeout', '5m']));
    await installation.settled();
    const wanted = ['get', WORKLOADS.worker, '-o', 'jsonpath={.spec.replicas}'];
    expect(await installation.kubectl(wanted)).toBe('1');
  });

  test('an uninstall keeps answers and secrets, reports it, and a reinstall uses them', async () => {
    const api = await installation.open();
    tenant = await api.makeTenant();
    const sent = { answers: [{ ...answer, question_id: tenant.questionId }] };
    expect((await api.request('POST', '/v1/answers', tenant.key.api_key, sent)).status).toBe(202);
    await api.atRest(tenant.key.api_key);
    const before = await api.request('GET', `/v1/answers/${answer.id}`, tenant.key.api_key);
    expect(before.status).toBe(200);
    const secrets = await installation.secrets();
    const claims = await installation.kubectl(['get', 'persistentvolumeclaims', '-o', 'name']);

    const goodbye = await installation.helm(['uninstall', 'parley', '--wait', '--timeout', '3m']);
    expect(goodbye).toMatch(/kept due to the resource policy.*parley-secrets/s);
    expect(output).toMatch(/uninstall/i);
    expect(await installation.secrets()).toEqual(secrets);
    expect(await installation.kubectl(['get', 'persistentvolumeclaims', '-o', 'name'])).toBe(claims);
    expect(claims.split('\n')).toHaveLength(2);

    const { seconds } = await timed('helm install, after an uninstall', () => installation.install());
    expect(await installation.secrets()).toEqual(secrets);
    const after = await api.request('GET', `/v1/answers/${answer.id}`, tenant.key.api_key);
    expect(after).toEqual(before);
    record('reinstall finds the data', { seconds, answers: 1 });
  });
});
