import { randomBytes } from 'node:crypto';
import { type CommandLine, reach } from '../support/deployed.ts';
import { freePort } from '../support/process.ts';
import { type DockerOptions, docker } from './docker.ts';

export const SERVICES = ['api', 'worker', 'postgres', 'valkey'] as const;
export type Service = (typeof SERVICES)[number];

/** An installation by docker-compose.yml with its own project name and port, and further variables for Compose. */
export async function createInstallation(variables: Record<string, string> = {}) {
  const project = `parley-check-${randomBytes(4).toString('hex')}`;
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  /** For documented `docker compose` commands. An empty BASE_URL counts as unset; vitest sets one. */
  const environment = {
    COMPOSE_PROJECT_NAME: project,
    PARLEY_PORT: String(port),
    RATE_LIMITS: 'off',
    BASE_URL: '',
    ...variables,
  };

  const compose = (args: string[], options: DockerOptions = {}) =>
    docker(['compose', '--project-name', project, ...args], { ...options, environment });

  const parley: CommandLine = async (args, input) =>
    JSON.parse(await compose(['exec', '--no-TTY', 'api', 'parley', ...args], { input }));

  /** The output of `docker inspect` for a service's container. */
  const inspect = async (service: Service | 'migrate' | 'secrets' | 'api-2' | 'proxy') =>
    JSON.parse(await docker(['inspect', await compose(['ps', '--all', '--quiet', service])]))[0];

  return {
    project,
    port,
    ...reach(baseUrl, parley),
    environment,
    compose,
    inspect,
    async up() {
      try {
        await compose(['up', '--detach', '--wait']);
      } catch (error) {
        throw new Error(await compose(['logs', '--no-color', '--tail', '40']), { cause: error });
      }
    },
    down: () => compose(['down', '--volumes', '--timeout', '20']),
    async isHealthy(service: Service) {
      const { State } = await inspect(service);
      return State.Running && State.Health.Status === 'healthy';
    },
  };
}
