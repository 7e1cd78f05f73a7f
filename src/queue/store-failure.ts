import { ReplyError } from 'ioredis';
import { isTimeout } from '../platform/timeouts.ts';

/** The error code at the start of a reply, such as `OOM`, `READONLY` or `MISCONF`. */
const REPLY_CODE = /^[A-Z]+(?= )/;

/**
 * Returns the kind of a failed command of Valkey or Redis, for metrics: the code of its error reply, `timeout`, or
 * `connection`.
 */
export function failureKind(error: unknown): string {
  if (error instanceof ReplyError) return REPLY_CODE.exec((error as Error).message)?.[0] ?? 'ERR';
  return isTimeout(error) ? 'timeout' : 'connection';
}
