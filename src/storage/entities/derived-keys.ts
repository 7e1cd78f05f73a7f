import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment, text } from './columns.ts';

/** The keys for message authentication codes. They outlive the secret key that encrypts them. */
export const DerivedKeyEntity = defineEntity({
  name: 'DerivedKey',
  tableName: 'lasting_keys',
  properties: { purpose: text().primary(), key_sealed: p.blob(), created_at: moment() },
});
