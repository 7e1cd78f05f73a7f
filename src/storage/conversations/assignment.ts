import {
  type Candidate,
  type Decision,
  decideAssignments,
  membersOf,
  placesOf,
  type Turns,
  type Waiting,
} from '../../domain/conversations/assignment.ts';
import type { AssignmentRule } from '../../domain/conversations/assignment-rules.ts';
import { planChange } from '../../domain/conversations/conversation-changes.ts';
import { changeEvents, type EventReason } from '../../domain/conversations/conversation-events.ts';
import { toTypeId } from '../../domain/ids.ts';
import { rolesWith } from '../../domain/team/roles.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { wantedRows } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { listTenantsWith } from '../tenants/tenants.ts';
import { type Changed, storeChanges } from './conversation-changes.ts';
import {
  CONVERSATION_COLUMNS,
  type ConversationRow,
  type EventWriting,
  insertEvents,
  openWrite,
  placeEvents,
  SYSTEM_AUTHOR,
} from './conversation-rows.ts';

/** Maximum number of conversations that one transaction looks at. */
export const ASSIGNED_AT_ONCE = 200;

/**
 * Returns the tenants with conversations that rules have to look at or can assign now. For the worker. It reads the indexes of
 * every tenant with rules: usually marks name the tenants (`takeMarks`).
 */
export const listTenantsToAssign = (storage: Storage): Promise<string[]> =>
  listTenantsWith(storage, 'tenants_to_assign');

interface Rules {
  version: number;
  rules: AssignmentRule[];
  turns: Turns;
  /** The rules skip open conversations that have not changed since then (null: the rules look at all). */
  new_since: Date | null;
}

/** Whether a tenant has such conversations, also ones that others have locked. For the worker. */
export const hasToAssign = async (storage: Storage, tenantId: string): Promise<boolean> =>
  (await storage.query<{ has: boolean }>('select has_to_assign($1) as has', [tenantId]))[0]?.has === true;

/**
 * Applies the rules to a batch of a tenant's conversations without an assignee, and returns the outcomes. With `isFull`
 * there may be more conversations.
 *
 * The lock on the rules excludes other workers, and those on the members, in order of their ids, exclude members of the
 * team who assign at the same time: so loads stay as they are counted. Conversations that are locked wait for the next
 * round.
 */
export const assignBatch = (tenant: TenantStorage): Promise<{ outcomes: Decision['outcome'][]; isFull: boolean }> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const [current] = await tx.query<Rules>(
      'select version, rules, turns, new_since from assignment_rules where tenant_id = $1 for update skip locked',
      [tenantId],
    );
    if (!current || current.rules.length === 0) return { outcomes: [], isFull: false };
    const team = await lockTeam(tx, tenantId, current.rules);
    const waiting = await lockWaiting(tx, tenantId, current, team);
    const fresh = await lockFresh(tx, tenantId, current);
    const rows = [...waiting, ...fresh];
    if (rows.length === 0) return { outcomes: [], isFull: false };
    const writing: EventWriting = { tx, tenantId, author: SYSTEM_AUTHOR, now: await openWrite(tx) };
    const { decisions, turns } = decideAssignments({ ...current, team, now: writing.now }, rows);
    const made = decisions.filter(({ outcome }, index) => outcome !== 'waiting' || index >= waiting.length);
    await storeDecisions(writing, rows, made, current.version);
    if (JSON.stringify(turns) !== JSON.stringify(current.turns))
      await tx.query('update assignment_rules set turns = $2::jsonb where tenant_id = $1', [
        tenantId,
        JSON.stringify(turns),
      ]);
    const isFull = Math.max(waiting.length, fresh.length) >= ASSIGNED_AT_ONCE;
    return { outcomes: made.map(({ outcome }) => outcome), isFull };
  });

/**
 * Locks the members that the rules name, and then counts the conversations of those who may answer, no further than their
 * capacity.
 */
async function lockTeam(tx: Transaction, tenantId: string, rules: readonly AssignmentRule[]): Promise<Candidate[]> {
  const named = [tenantId, [...new Set(rules.flatMap(membersOf))]];
  await tx.query('select from members where tenant_id = $1 and id = any($2::uuid[]) order by id for update', named);
  return tx.query<Candidate>(
    `select id, availability, capacity, (select count(*)::int from (
       select from conversations where tenant_id = $1 and assignee_id = members.id and status in ('open', 'pending')
       order by id limit members.capacity) as held) as load
     from members where tenant_id = $1 and id = any($2::uuid[]) and role = any($3::text[])`,
    [...named, rolesWith('conversations:write')],
  );
}

type FoundRow = ConversationRow & Waiting;

const selected = (keepsRule: string): string =>
  `${CONVERSATION_COLUMNS}, assignment_rule, assignment_waits, rules_checked, ${keepsRule} as "keepsRule", coalesce((
     select attributes from identities where identities.tenant_id = conversations.tenant_id
       and identities.identity = conversations.identity
       and identities.identity_verified = conversations.identity_verified), '{}') as attributes`;

/** Locks the conversations for which there is a place, the oldest of each rule first. */
async function lockWaiting(
  tx: Transaction,
  tenantId: string,
  { rules, version }: Rules,
  team: readonly Candidate[],
): Promise<FoundRow[]> {
  const byId = new Map(team.map(member => [member.id, member]));
  const wanted = rules
    .map(rule => ({ id: rule.id, places: Math.min(placesOf(rule, byId), ASSIGNED_AT_ONCE) }))
    .filter(({ places }) => places > 0);
  if (wanted.length === 0) return [];
  return tx.query<FoundRow>(
    `select waiting.* from unnest($2::uuid[], $3::int[]) as wanted(rule, places) cross join lateral (
       select ${selected('true')} from conversations
       where tenant_id = $1 and status = 'open' and assignee_id is null and assignment_waits
         and assignment_rule = wanted.rule and rules_checked = $4
       order by created_at, id limit wanted.places for update skip locked) as waiting`,
    [tenantId, wanted.map(({ id }) => id), wanted.map(({ places }) => places), version],
  );
}

/** Locks conversations that the present rules have not looked at. */
const lockFresh = (tx: Transaction, tenantId: string, { version, new_since }: Rules): Promise<FoundRow[]> =>
  tx.query<FoundRow>(
    `select ${selected('coalesce(team_updated_at < $3, false)')} from conversations
     where tenant_id = $1 and status = 'open' and assignee_id is null and rules_checked < $2
     order by rules_checked, created_at, id limit ${ASSIGNED_AT_ONCE} for update skip locked`,
    [tenantId, version, new_since],
  );

/** Returns the changed row. Tags that do not fit are left out: the conversation is assigned without them. */
function changedRow(before: FoundRow, { change }: Decision): FoundRow {
  const planned = planChange(before, change);
  if (!('conflict' in planned)) return planned.after;
  const { add_tags, ...rest } = change;
  return (planChange(before, rest) as { after: FoundRow }).after;
}

const reasonOf = ({ id }: AssignmentRule): EventReason => ({ type: 'rule', id: toTypeId('rule', id) });

/** Stores the changes of each rule with their events, and the decision about every conversation. */
async function storeDecisions(
  writing: EventWriting,
  rows: readonly FoundRow[],
  decisions: readonly Decision[],
  version: number,
): Promise<void> {
  const byRule = new Map<AssignmentRule, Changed[]>();
  const found = new Map(rows.map(row => [row.id, row]));
  const present = new Map<string, ConversationRow>(found);
  for (const decision of decisions) {
    const { id, rule } = decision;
    const before = found.get(id);
    if (!rule || !before) continue;
    const after = changedRow(before, decision);
    if (changeEvents(before, after, reasonOf(rule)).length === 0) continue;
    byRule.set(rule, [...(byRule.get(rule) ?? []), { before, after }]);
  }
  for (const [rule, changes] of byRule)
    for (const row of await storeChanges(writing, changes, reasonOf(rule))) present.set(row.id, row);
  await storeLooks(writing, decisions, present, version);
}

/** The rule that a conversation remembers if no rule decides: the last one, if the rules were not looked at. */
const keptRule = (row: Partial<FoundRow> | undefined): string | null =>
  row?.keepsRule ? (row.assignment_rule ?? null) : null;

const LOOKS = wantedRows('* from jsonb_to_recordset($2::jsonb) as looks(id uuid, rule uuid, waits boolean, noted int)');

/** Records that the rules have looked, and an event for each conversation that begins to wait for a member. */
async function storeLooks(
  writing: EventWriting,
  decisions: readonly Decision[],
  present: ReadonlyMap<string, ConversationRow>,
  version: number,
): Promise<void> {
  const { tx, tenantId, now } = writing;
  const events = decisions.flatMap(({ id, rule, wait: code }) => {
    const row = present.get(id);
    if (!row || !rule || !code) return [];
    return placeEvents(row, [{ field: 'assignee_id', from: null, to: null, reason: { ...reasonOf(rule), code } }]);
  });
  await insertEvents(writing, events);
  const looks = decisions.map(({ id, rule, wait, outcome }) => ({
    id,
    rule: rule?.id ?? keptRule(present.get(id)),
    waits: outcome === 'waiting',
    noted: wait ? 1 : 0,
  }));
  await tx.query(
    `with ${LOOKS}
     update conversations set rules_checked = $3, assignment_rule = rule, assignment_waits = waits,
       last_note_seq = last_note_seq + noted, team_updated_at = case when noted > 0 then $4 else team_updated_at end
     from wanted where conversations.tenant_id = wanted.tenant_id and conversations.id = wanted.id`,
    [tenantId, JSON.stringify(looks), version, now],
  );
}
