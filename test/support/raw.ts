import { connect, type Socket } from 'node:net';
import type { TestApi } from './api.ts';

export interface RawReply {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: string;
}

/** Opens a raw connection to an API, for messages that HTTP clients do not send. */
export function openSocket(api: TestApi): Promise<Socket> {
  const { hostname, port } = new URL(api.baseUrl);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve, reject) => socket.once('connect', () => resolve(socket)).once('error', reject));
}

/** Reads the reply of a connection until the server closes it. */
export async function readReply(socket: Socket): Promise<RawReply> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) =>
    socket
      .on('data', chunk => chunks.push(chunk))
      .once('end', resolve)
      .once('close', () => resolve())
      .once('error', error => (chunks.length > 0 ? resolve() : reject(error))),
  );
  socket.destroy();
  const [head = '', ...rest] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = fields.map(field => [
    field.slice(0, field.indexOf(':')).toLowerCase(),
    field.slice(field.indexOf(':') + 1).trim(),
  ]);
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') };
}

/** Sends raw bytes and reads the reply. */
export async function exchange(api: TestApi, message: string | Uint8Array): Promise<RawReply> {
  const socket = await openSocket(api);
  socket.write(message);
  return readReply(socket);
}
