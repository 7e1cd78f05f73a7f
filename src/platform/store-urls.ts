/** Returns a store's URL with the separately configured password, unchanged without one. */
export function withPassword(url: string, password: string | undefined): string {
  if (password === undefined) return url;
  const changed = new URL(url);
  changed.password = encodeURIComponent(password);
  return changed.href;
}

/**
 * Returns a PostgreSQL URL with libpq's meaning of `sslmode`.
 *
 * node-postgres treats `require` as `verify-full`, and warns that this will change.
 */
export function withLibpqTls(url: string): string {
  const { searchParams } = new URL(url);
  return searchParams.has('sslmode') && !searchParams.has('uselibpqcompat') ? `${url}&uselibpqcompat=true` : url;
}
