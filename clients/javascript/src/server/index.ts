export { type ErrorKind, type FieldError, ParleyError } from '../errors.ts';
export { newId } from '../ids.ts';
export type { List, Page } from '../pages.ts';
export type { RetryPolicy } from '../retry.ts';
export type * from '../types.ts';
export type { Wire } from '../wire.ts';
export { createServerClient, etagOf, type ServerClient, type ServerClientOptions } from './client.ts';
export { signToken, type TokenGrant } from './sign-token.ts';
export type * from './types.ts';
