import { presentAnswer } from '../../domain/answers/answer-replies.ts';
import { presentConversation } from '../../domain/conversations/conversation-replies.ts';
import { presentMessage } from '../../domain/conversations/message-replies.ts';
import {
  type ExpandedType,
  isExpanded,
  type NamedIdentity,
  presentEvent,
  type StoredEvent,
} from '../../domain/events/events.ts';
import { presentIdentity } from '../../domain/people/identities.ts';
import { presentQuestion } from '../../domain/questions/question-replies.ts';
import { findAnswersById } from '../answers/answers.ts';
import {
  CONVERSATION_COLUMNS,
  type ConversationRow,
  MESSAGE_COLUMNS,
  type MessageRow,
} from '../conversations/conversation-rows.ts';
import type { TenantStorage } from '../database/orm.ts';
import { WANTED_IDS } from '../database/sql.ts';
import { nameIdentities } from '../events/events.ts';
import { describeOwners } from '../people/identities.ts';
import { findQuestionsById } from '../questions/questions.ts';

/** Objects as the team sees them, by the ids that events have of them. */
type Objects = ReadonlyMap<string, object>;
type Names = ReadonlyMap<string, NamedIdentity>;

const byId = <Row extends { id: string }>(rows: readonly Row[], present: (row: Row) => object): Objects =>
  new Map(rows.map(row => [row.id, present(row)]));

const readRows = <Row extends object>(tenant: TenantStorage, table: string, columns: string, ids: readonly string[]) =>
  tenant.query<Row>(`with ${WANTED_IDS} select ${columns} from wanted join ${table} using (tenant_id, id)`, [
    tenant.tenantId,
    ids,
  ]);

async function readIdentities(tenant: TenantStorage, names: Names): Promise<Objects> {
  const known = [...names];
  const rows = await describeOwners(
    tenant,
    known.map(([, owner]) => owner),
  );
  return new Map(rows.map((row, index) => [known[index]?.[0] as string, presentIdentity(row)]));
}

/** Reads objects of a type, in one query. */
async function readObjects(
  tenant: TenantStorage,
  type: ExpandedType,
  ids: readonly string[],
  names: Names,
): Promise<Objects> {
  if (type === 'identity') return readIdentities(tenant, names);
  if (type === 'answer') return byId(await findAnswersById(tenant, ids), presentAnswer);
  if (type === 'question') return byId(await findQuestionsById(tenant, ids), presentQuestion);
  if (type === 'message')
    return byId(await readRows<MessageRow>(tenant, 'messages', MESSAGE_COLUMNS, ids), presentMessage('team'));
  const rows = await readRows<ConversationRow>(tenant, 'conversations', CONVERSATION_COLUMNS, ids);
  return byId(rows, presentConversation('team'));
}

/**
 * Returns events as the API and webhooks show them. With `expand`, each has its object as it is now, null if it is gone;
 * all objects of a type are read in one query.
 */
export async function presentEvents(tenant: TenantStorage, events: readonly StoredEvent[], expand: boolean) {
  const names = await nameIdentities(tenant, events);
  const shown = events.map(event => presentEvent(tenant.tenantId, event, names.get(event.object_id)));
  if (!expand) return shown;
  const groups = Map.groupBy(events, ({ object_type }) => object_type);
  const objects = new Map<string, Objects>();
  for (const [type, those] of groups)
    if (isExpanded(type)) {
      const ids = [...new Set(those.map(({ object_id }) => object_id))];
      objects.set(type, await readObjects(tenant, type, ids, names));
    }
  return shown.map((event, index) => {
    const { object_type, object_id } = events[index] as StoredEvent;
    const found = objects.get(object_type);
    return found ? { ...event, data: { ...event.data, object: found.get(object_id) ?? null } } : event;
  });
}
