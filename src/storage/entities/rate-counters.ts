import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment, text } from './columns.ts';

export const RateCounterEntity = defineEntity({
  name: 'RateCounter',
  tableName: 'rate_counters',
  properties: { key: text().primary(), count: p.bigint('number'), expires_at: moment() },
});
