import { parseTypeId } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import type { KeyRing, RingKey } from './key-ring.ts';

const USER_NAME = 'api_key';
/** Much longer than `api_key:<key id>` can be. */
const MAX_LENGTH = 512;

/** One and the same answer for a wrong user name, an unknown, revoked or foreign key, and an unknown tenant. */
const refused = (): Problem =>
  new Problem('credentials-invalid', 'Send Basic credentials "api_key:<id of a public API key of this tenant>".');

/** The key that the Basic credentials of the public token endpoint name (specification 4.2). */
export async function verifyBasicKey(
  authorization: string | undefined,
  tenantId: string | undefined,
  keyRing: KeyRing,
  now: Date,
): Promise<RingKey> {
  if (!authorization || authorization.length > MAX_LENGTH) throw refused();
  const [scheme, encoded, ...rest] = authorization.split(' ');
  if (scheme?.toLowerCase() !== 'basic' || !encoded || rest.length > 0) throw refused();
  const decoded = Buffer.from(encoded, 'base64');
  if (decoded.toString('base64') !== encoded) throw refused();
  const [userName, password, ...more] = decoded.toString('latin1').split(':');
  const id = parseTypeId('key', password ?? '');
  if (userName !== USER_NAME || !id || more.length > 0) throw refused();
  const key = await keyRing.find(id);
  if (!key || key.row.tenant_id !== tenantId || ['revoked', 'expired'].includes(key.status(now))) throw refused();
  return key;
}
