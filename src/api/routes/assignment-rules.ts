import {
  type AssignmentRule,
  AssignmentRules,
  AssignmentRulesInput,
  AssignmentRulesMatches,
  AssignmentRulesPreview,
  type RuleInputs,
} from '../../domain/conversations/assignment-rules.ts';
import { MAX_LOOKED_AT } from '../../domain/conversations/views.ts';
import { newUuid, toTypeId } from '../../domain/ids.ts';
import { fieldFault } from '../../domain/problem.ts';
import { countMatching } from '../../storage/conversations/assignment-preview.ts';
import {
  findAssignmentRules,
  replaceAssignmentRules as replaceRules,
} from '../../storage/conversations/assignment-rules.ts';
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
const completeRules = (data: RuleInputs, before: readonly AssignmentRule[]): AssignmentRule[] =>
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
    'The first rule that matches decides about an open conversation without an assignee, within seconds. It assigns to members who are active and have fewer open and pending conversations than their capacity; otherwise the conversation waits, the oldest first. Members of the team can assign beyond it. The rules look once at each conversation, and again when its tags or priority change, it loses its assignee, or the rules change. A rule that matches again does not add its tags and priority again. Rules without an `id` are new. With `apply: new`, the open conversations without an assignee are left as they are; those that wait for a member of a rule that stays the same go on waiting.',
  right: 'tenant:write',
  audit: 'assignment_rules.replaced',
  body: AssignmentRulesInput,
  response: AssignmentRules,
  ifMatch: true,
  etag: true,
  async handle({ caller, body, requireMatch }, { storage }) {
    const { rules, isChanged } = await replaceRules(storage.forTenant(caller.tenantId), body.apply, before => {
      requireMatch(presentRules(before));
      return completeRules(body.data, before);
    });
    return reply({ body: presentRules(rules), unchanged: !isChanged });
  },
});

export const previewAssignmentRules = operation({
  ...shared,
  id: 'previewAssignmentRules',
  method: 'post',
  path: '/v1/assignment-rules/preview',
  credentials: ['session'],
  summary: 'Count the waiting conversations that assignment rules match',
  description: `Counts the open conversations without an assignee that one of the rules matches, and saves nothing. Looks at no more than ${MAX_LOOKED_AT} of them. The ids of rules are ignored; members are refused as by \`PUT\`.`,
  right: 'tenant:write',
  body: AssignmentRulesPreview,
  response: AssignmentRulesMatches,
  heavy: true,
  async handle({ caller, body, receivedAt }, { storage }) {
    const rules = body.data.map(rule => ({ ...rule, id: newUuid() }) as AssignmentRule);
    return countMatching(storage.forTenant(caller.tenantId), rules, receivedAt);
  },
});

/** Every operation on assignment rules. */
export const assignmentRuleRoutes = [readAssignmentRules, replaceAssignmentRules, previewAssignmentRules];
