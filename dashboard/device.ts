const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|CrOS/, 'Linux'],
];

const firstIn = (names: [RegExp, string][], userAgent: string): string | undefined =>
  names.find(([sign]) => sign.test(userAgent))?.[1];

/** Readable name of a user agent, such as “Firefox · Windows”; unknown user agents are returned unchanged. */
export const deviceName = (userAgent: string): string =>
  [firstIn(BROWSERS, userAgent), firstIn(SYSTEMS, userAgent)].filter(Boolean).join(' · ') || userAgent;
