export type QueryState = Record<string, string | boolean>;

/** Reads the state from a query string. A missing or empty parameter has its default. */
export function readQuery<State extends QueryState>(search: string, defaults: State): State {
  const given = new URLSearchParams(search);
  const read = Object.entries(defaults).map(([name, fallback]) => {
    const value = given.get(name);
    if (value === null) return [name, fallback];
    return [name, typeof fallback === 'boolean' ? value === 'true' : value];
  });
  return Object.fromEntries(read) as State;
}

/** Writes changes into a query string. Defaults are omitted, and other parameters are kept. */
export function writeQuery<State extends QueryState>(search: string, defaults: State, changes: Partial<State>): string {
  const params = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === defaults[name]) params.delete(name);
    else params.set(name, String(value));
  }
  const text = params.toString();
  return text && `?${text}`;
}
