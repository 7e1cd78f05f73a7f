/**
 * A backend that issues access tokens to its users: `POST /v1/svc/auth/token`, the convention of Parley's guides.
 *
 * Replace the session lookup with that of your application; here sessions are listed in `SESSIONS`
 * (`token=user,token=user`). Run it behind TLS: tokens must be sent over https only.
 */
import { createServer } from 'node:http';
import { signToken } from 'parley-feedback/server';

const { SERVICE_API_KEY_ID, SERVICE_API_KEY_SECRET, SERVICE_TENANT_ID, SESSIONS = '', PORT = '8080' } = process.env;
const sessions = new Map(SESSIONS.split(',').map(line => /** @type {[string, string]} */ (line.split('='))));

/** Returns the signed-in user of a request, or undefined. */
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
