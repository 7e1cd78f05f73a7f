export { type Call, type Client, type ClientOptions, createClient } from './client.ts';
export { type ErrorKind, type FieldError, ParleyError } from './errors.ts';
export { newId } from './ids.ts';
export { browserStorage } from './outbox/indexed-db-storage.ts';
export {
  createOutbox,
  type Flushed,
  MAX_AGE_MS,
  MAX_ANSWERS,
  type Outbox,
  type OutboxOptions,
} from './outbox/outbox.ts';
export { type Entry, memoryStorage, type OutboxStorage } from './outbox/storage.ts';
export type { List, Page } from './pages.ts';
export { type PublicTokenOptions, publicTokens, tokenEndpoint } from './providers.ts';
export type { RetryPolicy } from './retry.ts';
export type { Owner, Provider } from './tokens.ts';
export type * from './types.ts';
export type { Reply, Wire } from './wire.ts';
