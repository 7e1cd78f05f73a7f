import { connect, type Socket } from 'node:net';
import type { TestApi } from './api.ts';

export interface RawReply {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: string;
}

/** A connection to an API, for what no HTTP client would send. */
export function openSocket(api: TestApi): Promise<Socket> {
  const { hostname, port } = new URL(api.baseUrl);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve, reject) => socket.once('connect', () => resolve(socket)).once('error', reject));
}

/** The reply of a connection that the other side ends. */
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

/** Sends bytes as they are and reads the one reply to them. */
export async function exchange(api: TestApi, message: string | Uint8Array): Promise<RawReply> {
  const socket = await openSocket(api);
  socket.write(message);
  return readReply(socket);
}
