import { defineEntity, p } from '@mikro-orm/postgresql';
import type { ViewFilter } from '../../domain/conversations/views.ts';
import { json, moment, text, uuid } from './columns.ts';

export const ViewEntity = defineEntity({
  name: 'View',
  tableName: 'views',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    member_id: uuid(),
    name: text(),
    filter: json<ViewFilter>(),
    sort: text(),
    shared: p.boolean(),
    created_at: moment(),
    updated_at: moment(),
  },
});
