/**
 * Returns whether agents of this Node send requests through the proxy in `proxyEnv`. Others ignore it without an error.
 * The command-line flag has the same origin (22.21 and 24.5) and can be queried.
 */
export const supportsProxies = (): boolean => process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

/** Returns why the URL of a proxy cannot be used as it is, as the end of a sentence; `undefined` if it can. */
export function findProxyFault(proxy: string): string | undefined {
  const url = URL.parse(proxy);
  if (!url) return undefined; // another check reports it
  if (/[?#]/.test(proxy) || url.pathname.length > 1)
    return 'must not have a path or query, which a proxy does not receive';
  try {
    decodeURIComponent(`${url.username}:${url.password}`);
    return undefined;
  } catch {
    return 'must have a URL-encoded user name and password';
  }
}
