import { defineEntity } from '@mikro-orm/postgresql';
import { int, moment, text, uuid } from './columns.ts';

export const ProcessEntity = defineEntity({
  name: 'Process',
  tableName: 'processes',
  properties: { id: uuid().primary(), role: text(), version: text(), schema: int(), seen_at: moment() },
});
