import { NextResponse } from 'next/server';

/** A policy without inline scripts and styles: Next adds the nonce of the request's policy to its own. */
export function proxy(request) {
  const nonce = btoa(crypto.randomUUID());
  const policy = `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'; connect-src 'self' ${process.env.SERVICE_BASE_URL}; base-uri 'none'`;
  const headers = new Headers(request.headers);
  headers.set('Content-Security-Policy', policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set('Content-Security-Policy', policy);
  return response;
}
