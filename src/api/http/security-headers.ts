/** Security headers of every response: no scripts, no framing, no MIME sniffing. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Returns the headers of every response. Over HTTPS they include HSTS. */
export const securityHeadersOf = (baseUrl: string): Record<string, string> =>
  baseUrl.startsWith('https:')
    ? { ...HEADERS, 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }
    : HEADERS;
