import { apply, kubectl } from './cluster.ts';

/** Kinds of other projects used by the chart, as `plural.group`, with version and kind. */
const KINDS = [
  ['scaledobjects.keda.sh', 'v1alpha1', 'ScaledObject'],
  ['servicemonitors.monitoring.coreos.com', 'v1', 'ServiceMonitor'],
  ['podmonitors.monitoring.coreos.com', 'v1', 'PodMonitor'],
  ['prometheusrules.monitoring.coreos.com', 'v1', 'PrometheusRule'],
  ['httproutes.gateway.networking.k8s.io', 'v1', 'HTTPRoute'],
] as const;

const definition = ([name, version, kind]: (typeof KINDS)[number]) => {
  const [plural = '', ...group] = name.split('.');
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, a stub for a test' },
    },
    spec: {
      group: group.join('.'),
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
};

/** Creates the missing kinds in the cluster and deletes them at the end. */
export async function createStubs() {
  const present = await kubectl(['get', 'customresourcedefinitions', '-o', 'name']);
  const missing = KINDS.filter(([name]) => !present.includes(`/${name}`));
  const names = missing.map(([name]) => `customresourcedefinition/${name}`);
  if (missing.length > 0) {
    await apply(missing.map(definition));
    await kubectl(['wait', '--for', 'condition=Established', ...names, '--timeout', '1m']);
  }
  return {
    [Symbol.asyncDispose]: async () => {
      if (names.length > 0) await kubectl(['delete', ...names]);
    },
  };
}
