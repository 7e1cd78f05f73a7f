/**
 * Generates a client-side id for idempotent requests.
 *
 * Not `crypto.randomUUID()`, which browsers provide only with HTTPS or on localhost.
 */
export const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');
