import {
  type AssignmentRule,
  AssignmentRules,
  AssignmentRulesInput,
  type AssignmentRulesInput as RulesInput,
} from '../../domain/assignment-rules.ts';
import { newUuid, toTypeId } from '../../domain/ids.ts';
import { fieldFault } from '../../domain/problem.ts';
import { findAssignmentRules, replaceAssignmentRules as replaceRules } from '../../storage/assignment-rules.ts';
import { operation, reply } from '../operation.ts';

const toMember = (id: string): string => toTypeId('member', id);

function presentAssign(assign: AssignmentRule['then']['assign']) {
  if (!assign) return null;
  if ('member_id' in assign) return { member_id: toMember(assign.member_id) };
  return 'round_robin' in assign
    ? { round_robin: assign.round_robin.map(toMember) }
    : { least_busy: assign.least_busy.map(toMember) };
}

const presentRules = (rules: readonly AssignmentRule[]) => ({
  data: rules.map(({ id, name, when, then }) => ({
    id: toTypeId('rule', id),
    name,
    when,
    then: { ...then, assign: presentAssign(then.assign) },
  })),
});

/** Returns the rules of a request, new ones with an id. Throws 422 for an id that none of the present rules has. */
const completeRules = ({ data }: RulesInput, before: readonly AssignmentRule[]): AssignmentRule[] =>
  data.map(({ id, ...rule }, index) => {
    if (id !== undefined && !before.some(known => known.id === id))
      throw fieldFault(
        `/data/${index}/id`,
        'unknown-reference',
        'Must be the id of a present rule, from GET /v1/assignment-rules, or absent for a new one.',
      );
    return { id: id ?? newUuid(), ...rule } as AssignmentRule;
  });

const shared = { path: '/v1/assignment-rules', tag: 'Assignment rules', status: 200 } as const;

export const readAssignmentRules = operation({
  ...shared,
  id: 'readAssignmentRules',
  method: 'get',
  credentials: ['session'],
  summary: 'Get the assignment rules in order',
  right: 'tenant:write',
  response: AssignmentRules,
  etag: true,
  async handle({ caller }, { storage }) {
    return presentRules(await findAssignmentRules(storage.forTenant(caller.tenantId)));
  },
});

export const replaceAssignmentRules = operation({
  ...shared,
  id: 'replaceAssignmentRules',
  method: 'put',
  credentials: ['session'],
  summary: 'Replace the assignment rules',
  description:
    'The first rule that matches decides about an open conversation without an assignee, within seconds. It assigns to members who are active and have fewer open and pending conversations than their capacity; otherwise the conversation waits, the oldest first. Members of the team can assign beyond it. The rules look once at each conversation, and again when its tags or priority change, it loses its assignee, or the rules change. A rule that matches again does not add its tags and priority again. Rules without an `id` are new.',
  right: 'tenant:write',
  audit: 'assignment-rules.replaced',
  body: AssignmentRulesInput,
  response: AssignmentRules,
  ifMatch: true,
  etag: true,
  async handle({ caller, body, requireMatch }, { storage }) {
    const { rules, isChanged } = await replaceRules(storage.forTenant(caller.tenantId), before => {
      requireMatch(presentRules(before));
      return completeRules(body, before);
    });
    return reply({ body: presentRules(rules), unchanged: !isChanged });
  },
});

/** Every operation on assignment rules. */
export const assignmentRuleRoutes = [readAssignmentRules, replaceAssignmentRules];
