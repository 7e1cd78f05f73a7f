/** `sandbox`: internal; the process that a worker starts for isolated answers. */
export { runSandbox } from '../worker/sandbox-process.ts';
