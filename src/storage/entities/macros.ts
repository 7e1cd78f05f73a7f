import { defineEntity } from '@mikro-orm/postgresql';
import type { MacroChange } from '../../domain/conversations/macros.ts';
import { json, moment, text, uuid } from './columns.ts';

export const MacroEntity = defineEntity({
  name: 'Macro',
  tableName: 'macros',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    name: text(),
    shortcut: text().nullable(),
    body: text().nullable(),
    kind: text(),
    changes: json<MacroChange>(),
    created_at: moment(),
    updated_at: moment(),
  },
});
