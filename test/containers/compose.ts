import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { aQuestion } from '../support/make.ts';
import { freePort } from '../support/process.ts';
import { type DockerOptions, docker } from './docker.ts';

export const SERVICES = ['api', 'worker', 'postgres', 'valkey'] as const;
export type Service = (typeof SERVICES)[number];

export interface Tenant {
  id: string;
  key: { id: string; secret: string; api_key: string };
  questionId: string;
}

/** An installation by docker-compose.yml, apart from any other: a project name and a port of its own. */
export async function createInstallation() {
  const project = `parley-check-${randomBytes(4).toString('hex')}`;
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  /** For `docker compose` commands that are written down somewhere. BASE_URL empty, as absent: vitest sets one. */
  const environment = { COMPOSE_PROJECT_NAME: project, PARLEY_PORT: String(port), RATE_LIMITS: 'off', BASE_URL: '' };

  const compose = (args: string[], options: DockerOptions = {}) =>
    docker(['compose', '--project-name', project, ...args], { ...options, environment });

  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was printed
  const parley = async (args: string[], input?: string): Promise<any> =>
    JSON.parse(await compose(['exec', '--no-TTY', 'api', 'parley', ...args], { input }));

  /** What Docker knows of a service's container. */
  const inspect = async (service: Service | 'migrate' | 'secrets') =>
    JSON.parse(await docker(['inspect', await compose(['ps', '--all', '--quiet', service])]))[0];

  async function request(method: string, path: string, as: string, body?: unknown) {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
    return { status: response.status, body: (await response.json()) as any };
  }

  return {
    project,
    port,
    baseUrl,
    environment,
    compose,
    parley,
    inspect,
    request,
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
    async makeTenant(): Promise<Tenant> {
      const { id } = await parley(['tenant', 'create', '--name', 'Acme']);
      const key = await parley(['api-key', 'create', '--tenant', id, '--name', 'backend']);
      const question = await request('POST', '/v1/questions', key.api_key, aQuestion());
      const published = await request('POST', `/v1/questions/${question.body.id}/publish`, key.api_key, {});
      expect(published.status, JSON.stringify(published.body)).toBe(200);
      return { id, key, questionId: question.body.id };
    },
    /** The ids of every stored answer, in the order of the pages, so that one that is there twice shows. */
    async storedAnswers(apiKey: string): Promise<string[]> {
      const ids: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await request('GET', `/v1/answers?limit=100${cursor && `&cursor=${cursor}`}`, apiKey);
        expect(page.status, JSON.stringify(page.body)).toBe(200);
        ids.push(...page.body.data.map((answer: { id: string }) => answer.id));
        if (!page.body.has_more) return ids;
        cursor = encodeURIComponent(page.body.next_cursor);
      }
    },
  };
}
