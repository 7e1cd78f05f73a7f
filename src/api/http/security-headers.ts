/** What every response says to browsers: JSON is not a page, is not framed, and is not guessed at. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** The headers of every response; over HTTPS browsers are told to stay there. */
export const securityHeadersOf = (baseUrl: string): Record<string, string> =>
  baseUrl.startsWith('https:')
    ? { ...HEADERS, 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }
    : HEADERS;
