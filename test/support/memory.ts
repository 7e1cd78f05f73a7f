import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Collects all garbage and returns the bytes of heap that are still in use. */
export function collectGarbage(): number {
  gc();
  gc(); // the first run schedules finalizers, the second frees the released memory
  return process.memoryUsage().heapUsed;
}

/** Ends the current job, after which `WeakRef`s no longer keep their targets, and then collects all garbage. */
export async function collectAfterTurn(): Promise<number> {
  await new Promise(resolve => setImmediate(resolve));
  return collectGarbage();
}
