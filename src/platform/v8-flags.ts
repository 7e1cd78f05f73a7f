import { setFlagsFromString } from 'node:v8';

/** A process that serves requests, stores answers, or does both. */
type Role = 'serve' | 'work' | 'start';

/**
 * The flags to set before a process starts. (The size of the young generation can only be set on the command line: see
 * the scripts of `package.json`, which leave `NODE_OPTIONS` to the operator, and the Dockerfile.)
 *
 * - The heap is collected after this growth instead of only when memory is short (it would grow to three and a half
 *   times). Under load the worker uses 210 MB instead of 310 at the same speed, the API with 50,000 users 330 instead of
 *   the 400 that it needs if the heap may double. At 30 %, both would lose a tenth of their speed.
 * - Without the second flag, objects that survive the first second's collections cause later ones to be allocated in the
 *   old generation: parts of every request that waits for its flush, and all they refer to. This affected one start in
 *   three and cost a fifth of the speed.
 */
export const START_FLAGS = ['--heap-growing-percent=60', '--no-allocation-site-pretenuring'];

/**
 * The flags to set once a process has started, which they would slow down.
 *
 * They compile the API's code with V8's optimizing compiler after 1000 calls instead of 3000. Under load, a process is
 * fully optimized a second sooner, and its first ten seconds cost 5 % less. Lower values gain no more, and the worker
 * would lose a tenth.
 */
export const runFlags = (role: Role): string[] =>
  role === 'serve' ? ['--invocation-count-for-turbofan=1000', '--minimum-invocations-after-ic-update=100'] : [];

/** Sets flags of V8. It ignores unknown ones, so a test compares them with `node --v8-options`. */
export function setFlags(flags: string[]): void {
  for (const flag of flags) setFlagsFromString(flag);
}
