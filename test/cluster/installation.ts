import { randomBytes } from 'node:crypto';
import { type CommandLine, type Deployed, reach } from '../support/deployed.ts';
import type { ToolOptions } from '../support/tools.ts';
import { apply, CHART, helmAloud, IMAGE, imageValues, kubectl, nodeAddress } from './cluster.ts';
import { forward } from './forward.ts';

export const COMPONENTS = ['api', 'worker', 'postgresql', 'valkey'] as const;
export type Component = (typeof COMPONENTS)[number];

/** The workload of each component for the release `parley`. */
export const WORKLOADS: Record<Component, string> = {
  api: 'deployment/parley-api',
  worker: 'deployment/parley-worker',
  postgresql: 'statefulset/parley-postgresql',
  valkey: 'statefulset/parley-valkey',
};

/** The bundled PostgreSQL. */
export const POSTGRES = { service: 'service/parley-postgresql', port: 5432 } as const;

export type Values = Record<string, unknown>;

/** For a load from one address and with one key. */
export const UNLIMITED: Values = { config: { settings: { RATE_LIMITS: 'off' } } };

/** Creates an empty namespace that enforces the standard `restricted`. Returns its name. */
export async function createNamespace(): Promise<string> {
  const name = `parley-check-${randomBytes(4).toString('hex')}`;
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted', // makes helm print violations of a Deployment's pods
  };
  await apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }]);
  return name;
}

/** A node port for the API. Unlike `kubectl port-forward` it outlives pods. */
const ENTRANCE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'entrance' },
  spec: {
    type: 'NodePort',
    selector: { 'app.kubernetes.io/instance': 'parley', 'app.kubernetes.io/component': 'api' },
    ports: [{ port: 80, targetPort: 'http' }],
  },
};

export type Installation = Awaited<ReturnType<typeof createInstallation>>;

/** The release `parley` in its own namespace, which is deleted at the end. */
export async function createInstallation() {
  const namespace = await createNamespace();
  const within = (args: string[], options?: ToolOptions) => kubectl(['--namespace', namespace, ...args], options);

  const parley: CommandLine = async (args, input) =>
    JSON.parse(
      await within(['exec', '--stdin', WORKLOADS.api, '--container', 'api', '--', 'parley', ...args], { input }),
    );

  /** Installs or upgrades, waits until all pods are ready, and returns helm's output with warnings. */
  const release = async (verb: 'install' | 'upgrade', values: Values, image: string, chart = CHART) => {
    const args = [verb, 'parley', chart, '--namespace', namespace, '--values', '-', '--wait', '--timeout', '8m'];
    try {
      return await helmAloud(args, { input: JSON.stringify({ ...imageValues(image), ...values }) });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await state()}`, { cause: error });
    }
  };

  /** The state of the installation, for failure messages. */
  const state = async (): Promise<string> =>
    (await within(['get', 'pods,jobs,pvc', '-o', 'wide'])) +
    (await within(['get', 'events', '--sort-by', '.lastTimestamp', '--field-selector', 'type!=Normal']));

  /** Resolves when all replicas of these components are ready and of the newest revision. */
  const settled = async (components: readonly Component[] = COMPONENTS): Promise<void> => {
    for (const each of components) await within(['rollout', 'status', WORKLOADS[each], '--timeout', '8m']);
  };

  return {
    namespace,
    kubectl: within,
    parley,
    settled,
    install: (values: Values = {}, image = IMAGE, chart = CHART) => release('install', values, image, chart),
    upgrade: (values: Values = {}, image = IMAGE) => release('upgrade', values, image),
    helm: (args: string[]) => helmAloud([...args, '--namespace', namespace]),
    /** Opens the API for the machine that runs the checks. */
    async open(): Promise<Deployed> {
      await apply([ENTRANCE], namespace);
      const port = await within(['get', 'service', 'entrance', '-o', 'jsonpath={.spec.ports[0].nodePort}']);
      return reach(`http://${await nodeAddress()}:${port}`, parley);
    },
    forward: (target: string, port: number) => forward(namespace, target, port),
    /** The names of a component's pods. */
    async pods(component: Component): Promise<string[]> {
      const selector = `app.kubernetes.io/instance=parley,app.kubernetes.io/component=${component}`;
      const names = await within(['get', 'pods', '--selector', selector, '-o', 'jsonpath={.items[*].metadata.name}']);
      return names.split(' ').filter(name => name !== '');
    },
    /** The running containers of these components: ids by pod name. */
    async containers(components: readonly Component[] = COMPONENTS): Promise<Map<string, string>> {
      const selector = `app.kubernetes.io/instance=parley,app.kubernetes.io/component in (${components})`;
      const running = '{.status.containerStatuses[?(@.state.running)].containerID}';
      const path = `{range .items[*]}{.metadata.name} ${running}{"\\n"}{end}`;
      const lines = (await within(['get', 'pods', '--selector', selector, '-o', `jsonpath=${path}`])).split('\n');
      return new Map(lines.map(line => line.split(' ') as [string, string]).filter(([, id]) => id));
    },
    /** The data of each Secret by name, except Helm's release records. */
    async secrets(): Promise<Record<string, Record<string, string>>> {
      const { items } = JSON.parse(
        await within(['get', 'secrets', '--field-selector', 'type!=helm.sh/release.v1', '-o', 'json']),
      );
      return Object.fromEntries(
        items.map((item: { metadata: { name: string }; data: Record<string, string> }) => [
          item.metadata.name,
          item.data,
        ]),
      );
    },
    /** The database URL through a local port. */
    async databaseUrl(port: number): Promise<string> {
      const template = '{{index .data "postgresql-password" | base64decode}}';
      const password = await within(['get', 'secret', 'parley-secrets', '-o', `go-template=${template}`]);
      return `postgresql://parley:${password}@127.0.0.1:${port}/parley`;
    },
    [Symbol.asyncDispose]: async () => void (await kubectl(['delete', 'namespace', namespace, '--wait'])),
  };
}
