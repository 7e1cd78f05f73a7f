import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createLog } from '../../src/platform/log.ts';
import { type Letter, mailServerOf } from '../../src/platform/mail.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { runMails } from '../../src/worker/mails.ts';
import type { TestApi } from './api.ts';
import type { Certificate } from './certificates.ts';
import { storageOf } from './make.ts';

export interface TestMailServer extends AsyncDisposable {
  url: string;
  /** The received messages in raw form. */
  letters: string[];
  /** The commands of all connections, without the messages. */
  commands: string[];
  /** Replaces the reply to a command, to `greeting` and to the `end` of a message: undefined keeps it, '' omits it. */
  react(reply: (command: string) => string | undefined): void;
}

/**
 * A mail server that accepts all messages (the part of RFC 5321 that a client without extensions needs), unless `react` replaces
 * a reply. It listens on `port`, or on a free one, by TLS if it has a certificate.
 */
export async function createMailServer(port = 0, certificate?: Certificate): Promise<TestMailServer> {
  const letters: string[] = [];
  const commands: string[] = [];
  let replyTo: (command: string) => string | undefined = () => undefined;
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    sockets.add(socket.setEncoding('utf8'));
    let rest = '';
    let letter: string[] | undefined;
    const reply = (command: string, usual: string) => {
      const line = replyTo(command) ?? usual;
      if (line !== '') socket.write(`${line}\r\n`);
      return line;
    };
    const hear = (line: string) => {
      if (letter && line === '.') {
        if (reply('end', '250 accepted').startsWith('250')) letters.push(letter.join('\n'));
        letter = undefined;
        return;
      }
      if (letter) return void letter.push(line);
      commands.push(line);
      if (line === 'DATA' && reply(line, '354 continue').startsWith('354')) letter = [];
      if (line !== 'DATA') reply(line, line === 'QUIT' ? '221 bye' : '250 ok');
    };
    socket.on('error', () => socket.destroy());
    socket.on('data', chunk => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
    reply('greeting', '220 a test');
  };
  const server = certificate ? createTlsServer(certificate, serve) : createServer(serve);
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  return {
    url: `${certificate ? 'smtps' : 'smtp'}://127.0.0.1:${address.port}`,
    letters,
    commands,
    react(reply) {
      replyTo = reply;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

export interface MailingWorker extends AsyncDisposable {
  /** Lets time pass, by its clock. */
  pass(ms: number): void;
  metrics: ReturnType<typeof createMetrics>;
}

/** Sends the mails that an API queues, as a worker does, with a clock that tests can put forward. `now` is the API's. */
export function startMailing(api: TestApi, now = () => new Date()): MailingWorker {
  const stop = new AbortController();
  const metrics = createMetrics('work');
  let passedMs = 0;
  const ended = runMails({
    storage: api.database.storage('parley_worker'),
    tenants: storageOf(api),
    seals: api.seals,
    server: mailServerOf(api.config),
    metrics,
    log: createLog('silent', 'work'),
    signal: stop.signal,
    now: () => new Date(now().getTime() + passedMs),
  });
  return {
    pass(ms) {
      passedMs += ms;
    },
    metrics,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** Returns the mails that wait to be sent, in the order in which they were queued. */
export async function readQueuedMails({ database, seals }: TestApi): Promise<(Letter & { to: string })[]> {
  const rows = await database.query<{ id: string; to: string; sealed: Buffer }>(
    'select id, recipient as "to", letter_sealed as sealed from mails where due_at is not null order by id',
  );
  return rows.map(({ id, to, sealed }) => ({ to, ...JSON.parse(seals.unseal(sealed, id)) }));
}

/** The token of the link in a received message. */
export const tokenInLetter = (letter: string | undefined): string =>
  /#token=([\w-]{43})/.exec((letter ?? '').replaceAll('=\n', '').replaceAll('=3D', '='))?.[1] as string;
