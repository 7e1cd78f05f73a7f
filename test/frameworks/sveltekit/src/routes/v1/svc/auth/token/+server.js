import { json } from '@sveltejs/kit';
import { signToken } from 'parley-feedback/server';

export async function POST({ request }) {
  const user = request.headers.get('authorization')?.slice('Bearer '.length);
  if (!user) return new Response(null, { status: 401 });
  const access_token = await signToken({
    keyId: process.env.SERVICE_API_KEY_ID,
    secret: process.env.SERVICE_API_KEY_SECRET,
    tenantId: process.env.SERVICE_TENANT_ID,
    identity: user,
  });
  return json({ access_token });
}
