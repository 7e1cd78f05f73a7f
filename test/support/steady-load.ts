import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request to repeat, with its expected status. */
export interface SteadyRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: () => unknown;
  status: number;
}

/** The outcome of a steady load: failures are other statuses and broken connections, in words. */
export interface SteadyResult {
  sent: number;
  failures: string[];
}

const send = (base: string, { method, path, headers, body, status }: SteadyRequest, agent: Agent | false) =>
  new Promise<string | undefined>(resolve => {
    const url = new URL(path, base);
    const payload = body === undefined ? undefined : JSON.stringify(body());
    const outgoing = request(
      url,
      { method, agent, headers: { ...headers, ...(payload ? { 'Content-Type': 'application/json' } : {}) } },
      response => {
        response.on('error', error => resolve(`${method} ${path}: ${error.message}`));
        response.on('end', () =>
          resolve(response.statusCode === status ? undefined : `${method} ${path}: ${response.statusCode}`),
        );
        response.resume();
      },
    );
    outgoing.setTimeout(20_000, () => outgoing.destroy(new Error('no reply for 20 s')));
    outgoing.on('error', error => resolve(`${method} ${path}: ${error.message}`));
    outgoing.end(payload);
  });

/**
 * Sends the requests in turn at a fixed rate, regardless of the replies, and never repeats a failed one. Every other request
 * has a connection of its own; the rest share open ones.
 */
export function sendSteadily(base: string, requests: SteadyRequest[], perSecond: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const result: SteadyResult = { sent: 0, failures: [] };
  const begun = Date.now();
  let sending = true;
  const replies: Promise<void>[] = [];
  const running = (async () => {
    while (sending) {
      const due = begun + (result.sent * 1000) / perSecond;
      await sleep(Math.max(0, due - Date.now()));
      const turn = result.sent++;
      const next = requests[Math.floor(turn / 2) % requests.length] as SteadyRequest;
      const at = ((Date.now() - begun) / 1000).toFixed(1);
      replies.push(
        send(base, next, turn % 2 === 0 && agent).then(failure => {
          if (failure) result.failures.push(`${at} s: ${failure}`);
        }),
      );
    }
  })();
  return {
    result,
    async stop(): Promise<SteadyResult> {
      sending = false;
      await running;
      await Promise.all(replies);
      agent.destroy();
      return result;
    },
  };
}
