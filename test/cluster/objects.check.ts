import { expect, inject, test } from 'vitest';
import { waitFor } from '../support/wait.ts';
import { createInstallation } from './installation.ts';
import { timed } from './results.ts';
import { createStubs } from './stub-crds.ts';

const KINDS = [
  'scaledobjects.keda.sh',
  'servicemonitors.monitoring.coreos.com',
  'prometheusrules.monitoring.coreos.com',
  'httproutes.gateway.networking.k8s.io',
];

/** All options that are off by default and need another project or site-specific names. */
const EVERYTHING = {
  config: { baseUrl: 'https://parley.example.com' },
  ingress: { enabled: true, className: 'any', tls: [{ secretName: 'parley-tls', hosts: ['parley.example.com'] }] },
  gateway: { httpRoute: { enabled: true, parentRefs: [{ name: 'any' }] } },
  worker: { keda: { enabled: true, serverAddress: 'http://prometheus.monitoring:9090' } },
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  grafanaDashboards: { enabled: true },
  networkPolicy: { enabled: true },
};

test.runIf(inject('cluster'))(
  'the server accepts every object of the chart, with stubs for foreign kinds',
  async () => {
    await using _stubs = await createStubs();
    await using installation = await createInstallation();
    await installation.install();
    await timed('helm upgrade, everything on', () => installation.upgrade(EVERYTHING));
    const expectMade = async (kind: string) =>
      expect(await installation.kubectl(['get', kind, '-o', 'name']), kind).toContain('parley');
    for (const kind of ['ingresses', 'networkpolicies', ...KINDS]) await expectMade(kind);
    const dashboards = ['get', 'configmaps', '--selector', 'grafana_dashboard', '-o', 'name'];
    expect(await installation.kubectl(dashboards)).toContain('parley');
    await installation.upgrade({ podMonitor: { enabled: true } }); // instead of the ServiceMonitor
    await expectMade('podmonitors.monitoring.coreos.com');
  },
);

test.runIf(inject('cluster'))('the autoscaler of the API receives its CPU usage', async () => {
  await using installation = await createInstallation();
  const autoscaling = { enabled: true, minReplicas: 1, maxReplicas: 2, targetCPUUtilizationPercentage: 80 };
  await installation.install({ api: { autoscaling } });
  const { result } = await timed('autoscaler sees a figure', () =>
    waitFor(
      async () => {
        const object = JSON.parse(await installation.kubectl(['get', 'hpa', 'parley-api', '-o', 'json']));
        return object.status?.currentMetrics?.[0]?.resource?.current;
      },
      180_000,
      2000,
    ),
  );
  expect(result.averageUtilization).toBeGreaterThanOrEqual(0);
});
