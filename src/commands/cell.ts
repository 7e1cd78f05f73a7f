/** `cell`: not for people; the process that a worker starts for isolated answers. */
export { runCell } from '../worker/cell-process.ts';
