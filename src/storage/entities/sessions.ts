import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment, text, uuid } from './columns.ts';

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: uuid().primary(),
    account_id: uuid(),
    token_hash: p.blob(),
    user_agent: text(),
    ip: text().nullable(),
    created_at: moment(),
    last_seen_at: moment(),
    expires_at: moment(),
  },
  indexes: [{ name: 'sessions_of_account', properties: ['account_id'] }],
  uniques: [{ name: 'sessions_token_hash_key', properties: ['token_hash'] }],
});
