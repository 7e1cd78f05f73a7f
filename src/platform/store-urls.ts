/** The address of a store with the password that was given apart from it, as it is; with the one in it without. */
export function withPassword(url: string, password: string | undefined): string {
  if (password === undefined) return url;
  const changed = new URL(url);
  changed.password = encodeURIComponent(password);
  return changed.href;
}

/**
 * The address of a PostgreSQL whose `sslmode` means what libpq and every document of PostgreSQL mean by it.
 *
 * node-postgres by itself takes `require` for `verify-full`, and says in a warning that this will change.
 */
export function withLibpqTls(url: string): string {
  const { searchParams } = new URL(url);
  return searchParams.has('sslmode') && !searchParams.has('uselibpqcompat') ? `${url}&uselibpqcompat=true` : url;
}
