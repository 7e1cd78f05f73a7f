import { Problem } from '../../domain/problem.ts';
import { keyIdOfBearer } from '../../domain/team/api-keys.ts';
import type { Scope } from '../../domain/team/scopes.ts';
import { equalInConstantTime, sha256 } from '../../platform/secrets.ts';
import type { KeyCaller } from '../caller.ts';
import type { KeySource } from './key-ring.ts';

const NOTHING = Buffer.alloc(32);

/** Returns the server of a bearer value. Unknown, wrong, expired and revoked ones get the same error. */
export async function verifyBearerKey(bearer: string, keys: KeySource, now: Date): Promise<KeyCaller> {
  const id = keyIdOfBearer(bearer);
  const key = id ? await keys.find(id) : undefined;
  const hash = sha256(bearer);
  const isCurrent = equalInConstantTime(hash, key?.row.bearer_hash ?? NOTHING);
  const isPrevious = equalInConstantTime(hash, key?.row.previous_bearer_hash ?? NOTHING);
  const status = key?.status(now);
  const isValid =
    (isCurrent && (status === 'active' || status === 'rotating')) || (isPrevious && status === 'rotating');
  if (!key || !isValid) throw new Problem('credentials-invalid', 'The API key is unknown, expired or revoked.');
  return {
    kind: 'api-key',
    tenantId: key.row.tenant_id,
    keyId: key.row.id,
    keyOverlapUntil: key.row.previous_valid_until?.toISOString(),
    name: key.row.name,
    scopes: new Set(key.row.scopes as Scope[]),
  };
}
