export type { Attempt } from './attempt.ts';
export type { Call, CallOptions } from './call.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type Conversations, createConversations } from './conversations.ts';
export { type ErrorKind, type FieldError, ParleyError } from './errors.ts';
export { newId } from './ids.ts';
export { MAX_ANSWERS } from './outbox/changes.ts';
export type { LostAnswer } from './outbox/entries.ts';
export type { Flushed, FlushOptions } from './outbox/flushed.ts';
export { browserStorage } from './outbox/indexed-db-storage.ts';
export { createOutbox, type Outbox, type OutboxOptions } from './outbox/outbox.ts';
export {
  type DamagedEntry,
  type Entry,
  memoryStorage,
  type OutboxStorage,
  type UnreadEntry,
} from './outbox/storage.ts';
export type { List, Page } from './pages.ts';
export type { RetryPolicy } from './policy.ts';
export {
  type PublicTokenOptions,
  publicTokens,
  type TokenEndpointOptions,
  type TokenRequest,
  tokenEndpoint,
} from './providers.ts';
export { type CardSession, type CardSessionOptions, createCardSession } from './session/card-session.ts';
export type { Content } from './session/content.ts';
export type { Fault } from './session/rules.ts';
export { isSupported } from './session/steps.ts';
export type { Owner, Provider } from './tokens.ts';
export type * from './types.ts';
export type { Reply, Wire } from './wire.ts';
