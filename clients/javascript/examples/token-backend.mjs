/**
 * A backend that gives its users access tokens: `POST /v1/svc/auth/token`, the convention of Parley's guides.
 *
 * How it knows its users is the part that your application has already; here a session is a line of `SESSIONS`
 * (`token=user,token=user`). Put it behind TLS: tokens travel over https alone.
 */
import { createServer } from 'node:http';
import { signToken } from '@parley/client/server';

const { SERVICE_API_KEY_ID, SERVICE_API_KEY_SECRET, SERVICE_TENANT_ID, SESSIONS = '', PORT = '8080' } = process.env;
const sessions = new Map(SESSIONS.split(',').map(line => /** @type {[string, string]} */ (line.split('='))));

/** Your own user behind a request, or undefined. */
function findUser(request) {
  const [, session] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
  return session && sessions.get(session);
}

function reply(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function answer(request, response) {
  if (request.method !== 'POST' || request.url !== '/v1/svc/auth/token')
    return reply(response, 404, { error: 'not found' });
  const user = findUser(request);
  if (!user) return reply(response, 401, { error: 'not logged in' });
  const access_token = await signToken({
    keyId: SERVICE_API_KEY_ID,
    secret: SERVICE_API_KEY_SECRET,
    tenantId: SERVICE_TENANT_ID,
    identity: `user|${user}`,
  });
  reply(response, 200, { access_token });
}

const server = createServer((request, response) => {
  answer(request, response).catch(error => {
    console.error(error);
    reply(response, 500, { error: 'no token could be signed' });
  });
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}/v1/svc/auth/token`),
);
