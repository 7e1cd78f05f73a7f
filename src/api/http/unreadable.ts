import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { newUuid } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import { ANY_ORIGIN } from './cors.ts';
import { problemDocument, STATUS_OF } from './problem.ts';
import { securityHeadersOf } from './security-headers.ts';

/** How long the sender may take to read the reply. If the connection closed at once, the kernel would drop it. */
const LINGER_MS = 1000;

function problemOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers-too-large', 'The headers are larger than 16 KB.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem('request-timed-out', 'The request was not received in time.');
  return new Problem('malformed-request', 'The message is not a valid HTTP request.');
}

/**
 * Replies with a problem document to input that never became a request (not HTTP, too large, too slow), and
 * disconnects. Pages of other origins can read the reply.
 */
export const refuseUnreadable = (baseUrl: string) => (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const problem = problemOf(error.code);
  const status = STATUS_OF[problem.kind];
  const requestId = newUuid();
  const body = JSON.stringify(problemDocument(problem, baseUrl, '', requestId));
  const headers = {
    ...securityHeadersOf(baseUrl),
    ...ANY_ORIGIN,
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
};
