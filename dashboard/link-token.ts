/**
 * Token from the URL fragment: `#token=…` or `#…`.
 *
 * Browsers do not send the fragment, so the token appears in no server or proxy log.
 */
export const linkToken = (): string => location.hash.replace(/^#(token=)?/, '');
