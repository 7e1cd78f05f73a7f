/** Returns the settings with defaults, also for those that are given as undefined. */
export function withDefaults<Settings extends object>(defaults: Settings, given: Partial<Settings> = {}): Settings {
  const all = { ...defaults };
  for (const name in given) if (given[name] !== undefined) all[name] = given[name];
  return all;
}
