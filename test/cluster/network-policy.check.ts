import { expect, inject, test } from 'vitest';
import { waitFor } from '../support/wait.ts';
import { apply, IMAGE, kubectl } from './cluster.ts';
import { createInstallation, createNamespace } from './installation.ts';

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
    command: ['node', '-e', 'setInterval(() => {}, 1000)'],
    securityContext,
  };
  const spec = { containers: [container], automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 };
  await apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'stranger' }, spec }], namespace);
  await kubectl(['--namespace', namespace, 'wait', '--for', 'condition=Ready', 'pod/stranger', '--timeout', '2m']);
  return {
    /** Whether it can connect. */
    async reaches(host: string, port: number): Promise<boolean> {
      const script = `require('net').connect({ host: '${host}', port: ${port}, timeout: 2000 })
        .on('connect', () => { console.log('reached'); process.exit() })
        .on('timeout', () => process.exit()).on('error', () => process.exit())`;
      const output = await kubectl(['--namespace', namespace, 'exec', 'stranger', '--', 'node', '-e', script]);
      return output === 'reached';
    },
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
