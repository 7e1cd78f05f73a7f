import { defineEntity } from '@mikro-orm/postgresql';
import type { Turns } from '../../domain/assignment.ts';
import type { AssignmentRule } from '../../domain/assignment-rules.ts';
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
