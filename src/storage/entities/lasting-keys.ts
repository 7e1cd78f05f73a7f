import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment, text } from './columns.ts';

/** The keys that codes are computed with: they outlive the secret key that they are encrypted with. */
export const LastingKeyEntity = defineEntity({
  name: 'LastingKey',
  tableName: 'lasting_keys',
  properties: { purpose: text().primary(), key_sealed: p.blob(), created_at: moment() },
});
