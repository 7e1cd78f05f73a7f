import { defineEntity } from '@mikro-orm/postgresql';
import type { Turns } from '../../domain/conversations/assignment.ts';
import type { AssignmentRule } from '../../domain/conversations/assignment-rules.ts';
import { int, json, moment, uuid } from './columns.ts';

export const AssignmentRulesEntity = defineEntity({
  name: 'AssignmentRules',
  tableName: 'assignment_rules',
  properties: {
    tenant_id: uuid().primary(),
    version: int(),
    rules: json<AssignmentRule[]>(),
    turns: json<Turns>(),
    new_since: moment().nullable(),
  },
});
