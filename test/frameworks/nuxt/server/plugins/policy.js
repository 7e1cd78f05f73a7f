/** A policy without inline scripts and styles: Nuxt's own scripts get the nonce of the response. */
export default defineNitroPlugin(nitro => {
  nitro.hooks.hook('render:response', response => {
    const nonce = btoa(crypto.randomUUID());
    response.body = response.body
      .replaceAll('<script', `<script nonce="${nonce}"`)
      .replaceAll('<link', `<link nonce="${nonce}"`);
    response.headers['Content-Security-Policy'] =
      `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'; connect-src 'self' ${process.env.SERVICE_BASE_URL}; base-uri 'none'`;
  });
});
