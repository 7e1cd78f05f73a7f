import { signToken } from 'parley-feedback/server';

export default defineEventHandler(async event => {
  const user = getHeader(event, 'authorization')?.slice('Bearer '.length);
  if (!user) throw createError({ statusCode: 401 });
  const access_token = await signToken({
    keyId: process.env.SERVICE_API_KEY_ID,
    secret: process.env.SERVICE_API_KEY_SECRET,
    tenantId: process.env.SERVICE_TENANT_ID,
    identity: user,
  });
  return { access_token };
});
