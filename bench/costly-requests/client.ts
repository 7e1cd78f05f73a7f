import { parentPort, workerData } from 'node:worker_threads';
import type { SentRequest } from './requests.ts';

/** Sends requests from a thread of its own, so that their CPU time is not that of the API. */
const { url } = workerData as { url: string };
parentPort?.on('message', async ({ method, path, token, body, headers = {} }: SentRequest) => {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
    ...(body ? { body } : {}),
  });
  parentPort?.postMessage({ status: response.status, text: await response.text() });
});
