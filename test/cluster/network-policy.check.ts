import { expect, inject, test } from 'vitest';
import { waitFor } from '../support/wait.ts';
import { apply, IMAGE, kubectl } from './cluster.ts';
import { createInstallation, createNamespace } from './installation.ts';
import { record } from './results.ts';
import { settingFor } from './skipped.ts';

/** Prints `reached` if it can connect within 2 s. */
const connectScript = (
  host: string,
  port: number,
) => `require('net').connect({ host: '${host}', port: ${port}, timeout: 2000 })
  .on('connect', () => { console.log('reached'); process.exit() })
  .on('timeout', () => process.exit()).on('error', () => process.exit())`;

/** A pod of another application, in its own namespace. */
async function createStranger() {
  const namespace = await createNamespace();
  const securityContext = {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const container = {
    name: 'stranger',
    image: IMAGE,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '-e', "require('net').createServer().listen(443)"],
    securityContext,
  };
  const spec = {
    containers: [container],
    securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] }, // to listen on 443
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
  };
  await apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'stranger' }, spec }], namespace);
  await kubectl(['--namespace', namespace, 'wait', '--for', 'condition=Ready', 'pod/stranger', '--timeout', '2m']);
  return {
    /** Whether it can connect. */
    async reaches(host: string, port: number): Promise<boolean> {
      const script = connectScript(host, port);
      const output = await kubectl(['--namespace', namespace, 'exec', 'stranger', '--', 'node', '-e', script]);
      return output === 'reached';
    },
    address: () => kubectl(['--namespace', namespace, 'get', 'pod', 'stranger', '-o', 'jsonpath={.status.podIP}']),
    [Symbol.asyncDispose]: async () => void (await kubectl(['delete', 'namespace', namespace, '--wait'])),
  };
}

test.runIf(inject('cluster'))('with the network policy another pod can only reach the API', async () => {
  await using installation = await createInstallation();
  await using stranger = await createStranger();
  await installation.install();
  const api = await installation.open();
  const { api_key } = (await api.makeTenant()).key;
  const address = async (component: 'api' | 'worker' | 'postgresql' | 'valkey') => {
    const [pod = ''] = await installation.pods(component);
    return installation.kubectl(['get', 'pod', pod, '-o', 'jsonpath={.status.podIP}']);
  };
  /** The pods and ports that it can reach now. */
  const reached = async () => {
    const targets = [
      ['api', 3000],
      ['api', 9464],
      ['worker', 9464],
      ['postgresql', 5432],
      ['valkey', 6379],
    ] as const;
    const found: string[] = [];
    for (const [component, port] of targets)
      if (await stranger.reaches(await address(component), port)) found.push(`${component}:${port}`);
    return found.join(' ');
  };

  expect(await reached()).toBe('api:3000 api:9464 worker:9464 postgresql:5432 valkey:6379');
  const metricsFrom = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];
  await installation.upgrade({ networkPolicy: { enabled: true, metricsFrom } });
  await waitFor(async () => (await reached()) === 'api:3000', 60_000, 1000);
  expect(await installation.parley(['doctor'])).toMatchObject({ ok: true });
  expect((await api.request('GET', '/v1/ingestion', api_key)).status).toBe(200);
});

test.runIf(inject('cluster'))(
  'with webhooks, workers reach port 443 of public addresses and nothing else outside',
  async context => {
    const outside = settingFor('the way of webhooks to the outside', 'CLUSTER_PUBLIC_ADDRESS');
    if (!outside) return context.skip();
    await using installation = await createInstallation();
    await using stranger = await createStranger();
    const inside = await stranger.address();
    /** The addresses and ports that a component reaches. */
    const reachedBy = async (component: 'api' | 'worker') => {
      const [pod = ''] = await installation.pods(component);
      const reached: string[] = [];
      for (const [host, port] of [
        [outside, 443],
        [outside, 80],
        [inside, 443],
      ] as const)
        if ((await installation.kubectl(['exec', pod, '--', 'node', '-e', connectScript(host, port)])) === 'reached')
          reached.push(`${host}:${port}`);
      return reached;
    };
    await installation.install({ networkPolicy: { enabled: false } });
    const all = [`${outside}:443`, `${outside}:80`, `${inside}:443`];
    expect(await reachedBy('worker')).toEqual(all);
    await installation.upgrade({ networkPolicy: { enabled: true } });
    await waitFor(async () => (await reachedBy('worker')).length === 0, 60_000, 1000);
    await installation.upgrade({ networkPolicy: { enabled: true, webhooks: true } });
    await waitFor(async () => (await reachedBy('worker')).length > 0, 60_000, 1000);
    expect(await reachedBy('worker')).toEqual([`${outside}:443`]);
    expect(await reachedBy('api')).toEqual([]);
    record('webhooks: reached by a worker with networkPolicy.webhooks', { '443': true, '80': false, cluster: false });
  },
);

test.runIf(inject('cluster'))('with a mail server, workers reach its port and the API does not', async () => {
  await using installation = await createInstallation();
  await using stranger = await createStranger(); // in the place of a mail server: it listens on 443
  const inside = await stranger.address();
  const reaches = async (component: 'api' | 'worker') => {
    const [pod = ''] = await installation.pods(component);
    return (await installation.kubectl(['exec', pod, '--', 'node', '-e', connectScript(inside, 443)])) === 'reached';
  };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'mail' },
    stringData: { 'smtp-url': `smtp://${inside}:443` },
  };
  const config = { smtp: { existingSecret: 'mail', from: 'parley@feedback.example.com' } };
  await installation.install({ config, extraManifests: [secret], networkPolicy: { enabled: true, smtpPort: 443 } });
  await waitFor(async () => !(await reaches('api')), 60_000, 1000);
  expect(await reaches('worker')).toBe(true);
  await installation.upgrade({ config, extraManifests: [secret], networkPolicy: { enabled: true, smtpPort: 465 } });
  await waitFor(async () => !(await reaches('worker')), 60_000, 1000);
});
