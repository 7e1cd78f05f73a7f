import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from './tools.ts';

/** A self-signed certificate for 127.0.0.1, which is its own authority, and its key. */
export interface Certificate extends AsyncDisposable {
  key: Buffer;
  cert: Buffer;
  /** The path of the certificate, for `NODE_EXTRA_CA_CERTS`. */
  file: string;
}

/** Creates a certificate in a new folder, which goes with it. Needs `openssl`. */
export async function makeCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-certificate-'));
  const names = '-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1';
  const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 ${names} -keyout key.pem -out cert.pem`;
  await runTool('openssl', line.split(' '), { cwd: folder });
  const file = join(folder, 'cert.pem');
  const [key, cert] = await Promise.all([readFile(join(folder, 'key.pem')), readFile(file)]);
  return { key, cert, file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
