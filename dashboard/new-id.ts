/**
 * An id that the client makes, so that a message sent twice is written once.
 *
 * Not `crypto.randomUUID()`, which a browser has only under HTTPS or on localhost.
 */
export const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');
