/** The worker thread of `startProbes`: requests each URL repeatedly and posts all replies when it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Asked, requestOnce } from './new-connection.ts';

const { urls, everyMs } = workerData as { urls: string[]; everyMs: number };
const driver = parentPort as MessagePort;
let stopped = false;
driver.once('message', () => {
  stopped = true;
});

async function probe(url: string): Promise<Asked[]> {
  const asked: Asked[] = [];
  while (!stopped) {
    asked.push(await requestOnce(url));
    await sleep(everyMs);
  }
  return asked;
}

driver.postMessage(await Promise.all(urls.map(probe)));
