import { get } from 'node:http';

/** The reply to a request on its own connection; status 0 without a reply within 5 s. */
export interface Asked {
  ms: number;
  status: number;
}

/** Sends a request over a new connection, like a probe. */
export const requestOnce = (url: string): Promise<Asked> =>
  new Promise(resolve => {
    const startedAt = performance.now();
    const answer = (status: number) => resolve({ ms: Math.round(performance.now() - startedAt), status });
    const request = get(url, { agent: false, timeout: 5000 }, response => {
      response.resume().once('end', () => answer(response.statusCode ?? 0));
    });
    request.once('timeout', () => request.destroy()).once('error', () => answer(0));
  });
