import { join } from 'node:path';
import { GenericContainer, Wait } from 'testcontainers';
import { freePort } from '../support/process.ts';
import { docker } from './docker.ts';

const IMAGE = 'parley-test-pgbouncer';
const FOLDER = join(import.meta.dirname, 'pgbouncer');

export const buildPooler = () => docker(['build', '--quiet', '--network', 'host', '--tag', IMAGE, FOLDER]);

/** A PgBouncer in front of a PostgreSQL, with default settings except for the given ones; `url` goes through it. */
export async function openPooler(
  mode: 'session' | 'transaction',
  postgresUrl: string,
  more: Record<string, string> = {},
): Promise<{ url: string } & AsyncDisposable> {
  const { hostname, port, username, password } = new URL(postgresUrl);
  const url = new URL(postgresUrl);
  url.port = String(await freePort());
  const settings = `[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${url.port}
auth_type = any
pool_mode = ${mode}
unix_socket_dir =
${Object.entries({ default_pool_size: '60', ...more })
  .map(([name, value]) => `${name} = ${value}`)
  .join('\n')}
`;
  const container = await new GenericContainer(IMAGE)
    .withNetworkMode('host')
    .withCopyContentToContainer([{ content: settings, target: '/etc/pgbouncer/pgbouncer.ini', mode: 0o644 }])
    .withWaitStrategy(Wait.forLogMessage(/process up/))
    .start();
  return { url: url.href, [Symbol.asyncDispose]: async () => void (await container.stop()) };
}
