import { createServer, type Socket } from 'node:net';

export interface TestMailServer extends AsyncDisposable {
  url: string;
  /** The received messages in raw form. */
  letters: string[];
}

/** A mail server that accepts all messages (the part of RFC 5321 that a client without extensions needs). */
export async function createMailServer(): Promise<TestMailServer> {
  const letters: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket.setEncoding('utf8'));
    let rest = '';
    let letter: string[] | undefined;
    const reply = (line: string) => void socket.write(`${line}\r\n`);
    const hear = (line: string) => {
      if (letter && line === '.') {
        letters.push(letter.join('\n'));
        letter = undefined;
        return reply('250 accepted');
      }
      if (letter) return void letter.push(line);
      if (line === 'DATA') letter = [];
      reply(line === 'DATA' ? '354 continue' : '250 ok');
    };
    socket.on('error', () => socket.destroy());
    socket.on('data', chunk => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
    reply('220 a test');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    letters,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** The token of the link in a received message. */
export const tokenInLetter = (letter: string | undefined): string =>
  /#token=([\w-]{43})/.exec((letter ?? '').replaceAll('=\n', '').replaceAll('=3D', '='))?.[1] as string;
