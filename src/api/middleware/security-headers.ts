import type { Context, Next } from 'koa';

/** What every response says to browsers: JSON is not a page, is not framed, and is not guessed at. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Sets them before anything else runs, so that they stand on every status. */
export const securityHeaders = (baseUrl: string) => {
  const headers = baseUrl.startsWith('https:')
    ? { ...HEADERS, 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }
    : HEADERS;
  return (ctx: Context, next: Next) => {
    ctx.set(headers);
    return next();
  };
};
