import { defineEntity } from '@mikro-orm/postgresql';
import { int } from './columns.ts';

export const SchemaStateEntity = defineEntity({
  name: 'SchemaState',
  tableName: 'schema_state',
  properties: { version: int().primary().autoincrement(false), oldest_compatible: int() },
});
