import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { ROOT } from './modules.ts';
import { freePort } from './process.ts';
import { isFound } from './required.ts';
import { runTool } from './tools.ts';
import { waitFor } from './wait.ts';

export const GUIDE = 'docs/guides/behind-a-proxy.md';
const HOST = 'feedback.example.com';

/** The code blocks of a language in the guide, in order. */
export const blocksOf = (language: string): string[] =>
  [...readFileSync(join(ROOT, GUIDE), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(match => match[1] === language)
    .map(match => match[2] as string);

/** Replaces a text that must occur exactly once. */
function replaceOnce(text: string, what: string, by: string): string {
  if (text.split(what).length !== 2) throw new Error(`${GUIDE} does not contain exactly once: ${what}`);
  return text.replace(what, () => by);
}

/** The places of one run. */
interface Place {
  folder: string;
  port: number;
}

/** The command that runs a proxy, and its environment. */
interface Command {
  args: string[];
  environment?: Record<string, string>;
}

interface WebProxy {
  /** The program, which is also the name in `TESTS_REQUIRE`. */
  program: string;
  /** The language of its block in the guide. */
  language: string;
  /** Its listen address in the block, and the one that the test uses instead. */
  listen: (place: Place) => [string, string];
  /** Writes the files around the block, and returns the command. */
  install(block: string, place: Place): Command;
}

const isRoot = process.getuid?.() === 0;

function writeIn(folder: string, name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const nginx: WebProxy = {
  program: 'nginx',
  language: 'nginx',
  listen: ({ port }) => ['listen 443 ', `listen 127.0.0.1:${port} `],
  install(block, { folder }) {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      name => `${name}_temp_path ${folder}/${name};`,
    );
    const file = writeIn(
      folder,
      'nginx.conf',
      `${isRoot ? 'user root;' : ''} daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
      events {} http { access_log off; ${temporary.join(' ')} include ${writeIn(folder, 'parley.conf', block)}; }`,
    );
    return { args: ['-p', folder, '-c', file, '-e', 'stderr'] };
  },
};

const haproxy: WebProxy = {
  program: 'haproxy',
  language: 'haproxy',
  listen: ({ port }) => ['bind :443 ', `bind 127.0.0.1:${port} `],
  install: (block, { folder }) => ({ args: ['-db', '-f', writeIn(folder, 'haproxy.cfg', block)] }),
};

/** The modules that Debian enables by default, as far as the block needs them, and those that `a2enmod` adds. */
const APACHE_MODULES = ['mpm_event', 'authz_core', 'filter'];
const APACHE_FOLDERS = ['/usr/lib/apache2/modules', '/usr/lib64/httpd/modules'];

const apache: WebProxy = {
  program: 'apache2',
  language: 'apache',
  listen: ({ port }) => ['<VirtualHost *:443>', `<VirtualHost 127.0.0.1:${port}>`],
  install(block, { folder, port }) {
    const enabled = /`a2enmod ([\w ]+)`/.exec(readFileSync(join(ROOT, GUIDE), 'utf8'))?.[1]?.split(' ') ?? [];
    const dependencies = enabled.includes('proxy_http') ? ['proxy'] : []; // as a2enmod resolves them
    const modules = APACHE_FOLDERS.find(existsSync);
    const loaded = [...APACHE_MODULES, ...dependencies, ...enabled].map(
      name => `LoadModule ${name}_module ${modules}/mod_${name}.so`,
    );
    const file = writeIn(
      folder,
      'apache2.conf',
      `${loaded.join('\n')}
      ServerRoot ${folder}\nDefaultRuntimeDir ${folder}\nPidFile ${folder}/pid\nErrorLog ${folder}/error.log
      ServerName ${HOST}\nListen 127.0.0.1:${port}\n${isRoot ? 'User www-data\nGroup www-data' : ''}
      ${block}`,
    );
    return { args: ['-f', file, '-DFOREGROUND'] };
  },
};

const caddy: WebProxy = {
  program: 'caddy',
  language: 'caddy',
  listen: ({ folder, port }) => [
    `${HOST} {\n`,
    `https://${HOST}:${port} {\nbind 127.0.0.1\ntls ${folder}/fullchain.pem ${folder}/privkey.pem\n`,
  ],
  install(block, { folder }) {
    // The administration API and the redirect from port 80 would use fixed ports.
    const file = writeIn(
      folder,
      'Caddyfile',
      replaceOnce(block, '{\n    servers', '{\nadmin off\nauto_https off\nservers'),
    );
    return {
      args: ['run', '--adapter', 'caddyfile', '--config', file],
      environment: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    };
  },
};

/** The proxies that tests run, by name. */
export const WEB_PROXIES = { nginx, HAProxy: haproxy, Apache: apache, Caddy: caddy };
export type WebProxyName = keyof typeof WEB_PROXIES;

const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];

const pathOf = (program: string): string | undefined =>
  FOLDERS.map(folder => join(folder, program)).find(path => existsSync(path));

/**
 * Whether a proxy is installed. Otherwise prints that its tests are skipped, or throws if `TESTS_REQUIRE` contains
 * `proxies`.
 */
export function hasWebProxy(name: WebProxyName): boolean {
  const { program } = WEB_PROXIES[name];
  return isFound(pathOf(program) !== undefined, 'proxies', program, `the tests behind ${name} are`);
}

export interface ProxiedReply {
  status: number;
  headers: Record<string, string>;
  /** The body after decompression. */
  text: string;
}

export interface ProxiedRequest {
  headers?: OutgoingHttpHeaders;
  body?: string;
  /** The address of the client, within 127.0.0.0/8. */
  from?: string;
}

export interface RunningProxy extends AsyncDisposable {
  /** Sends a request over a connection of its own. */
  send(method: string, path: string, request?: ProxiedRequest): Promise<ProxiedReply>;
  /** Number of connections that the proxy has opened to the server. */
  connections(): number;
}

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Sends requests over TLS, with the host name of the guide. */
const senderTo =
  (port: number, ca: Buffer): RunningProxy['send'] =>
  (method, path, { headers = {}, body, from = '127.0.0.1' } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          ...{ host: '127.0.0.1', port, servername: HOST, ca, localAddress: from, agent: false },
          ...{ method, path, headers: { Host: HOST, ...headers } },
        },
        reply => {
          const chunks: Buffer[] = [];
          reply.on('data', chunk => chunks.push(chunk));
          reply.on('error', reject);
          reply.on('end', () => {
            const decode = DECODERS[reply.headers['content-encoding'] ?? ''];
            const bytes = Buffer.concat(chunks);
            const text = (decode && bytes.length > 0 ? decode(bytes) : bytes).toString();
            resolve({ status: reply.statusCode as number, headers: reply.headers as Record<string, string>, text });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });

/** Forwards to a server, and counts the connections. */
async function countConnections(target: URL): Promise<{ port: number; count(): number } & AsyncDisposable> {
  const open = new Set<Socket>();
  let count = 0;
  const server = createServer(client => {
    count++;
    const upstream = connect({ port: Number(target.port), host: target.hostname });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => open.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    count: () => count,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function makeCertificate(folder: string): Promise<Buffer> {
  const names = `-subj /CN=${HOST} -addext subjectAltName=DNS:${HOST}`;
  const files = '-keyout privkey.pem -out fullchain.pem';
  const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 ${names} ${files}`;
  await runTool('openssl', line.split(' '), { cwd: folder });
  const [certificate, key] = ['fullchain.pem', 'privkey.pem'].map(name => readFileSync(join(folder, name)));
  writeIn(folder, 'combined.pem', `${certificate}${key}`);
  return certificate as Buffer;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise(done => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}

/** Runs a proxy in front of a server, with its block of the guide: only addresses and files differ. */
export async function runWebProxy(name: WebProxyName, serverUrl: string): Promise<RunningProxy> {
  const { program, language, listen, install } = WEB_PROXIES[name];
  const [block, ...others] = blocksOf(language);
  if (!block || others.length > 0) throw new Error(`${GUIDE} does not contain exactly one block ${language}`);
  await using stack = new AsyncDisposableStack();
  const place: Place = { folder: mkdtempSync(join(tmpdir(), 'parley-proxy-')), port: await freePort() };
  stack.defer(() => rmSync(place.folder, { recursive: true, force: true }));
  const ca = await makeCertificate(place.folder);
  const upstream = stack.use(await countConnections(new URL(serverUrl)));
  const server = `127.0.0.1:${upstream.port}`;
  const placed = replaceOnce(replaceOnce(block, ...listen(place)), '127.0.0.1:3000', server);
  const { args, environment = {} } = install(placed.replaceAll('/etc/ssl/feedback/', `${place.folder}/`), place);
  const child = spawn(pathOf(program) as string, args, { env: { PATH: FOLDERS.join(':'), ...environment } });
  stack.defer(() => stop(child));
  const send = senderTo(place.port, ca);
  await awaitProxy(child, () => send('GET', '/livez'));
  const running = stack.move();
  return { send, connections: upstream.count, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Resolves when requests arrive at the server; rejects with the proxy's output. */
async function awaitProxy(child: ChildProcess, probe: () => Promise<ProxiedReply>): Promise<void> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk));
  const isReached = async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    return (await probe().catch(() => undefined))?.status === 200; // not listening yet
  };
  await waitFor(isReached).catch(error => {
    throw new Error(`${child.spawnfile}: ${error.message}\n${output}`, { cause: error });
  });
}
