import { z } from 'zod';
import { presentConversation } from '../../domain/conversations/conversation-replies.ts';
import {
  AppliedMacro,
  changeOf,
  Macro,
  MacroApplication,
  MacroPatch,
  NewMacro,
} from '../../domain/conversations/macros.ts';
import { presentMessage } from '../../domain/conversations/message-replies.ts';
import { Body } from '../../domain/conversations/messages.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery } from '../../domain/pages.ts';
import { fieldFault, Problem } from '../../domain/problem.ts';
import { recall } from '../../domain/questions/recall.ts';
import { changeConversations } from '../../storage/conversations/conversation-changes.ts';
import type { Author, ConversationRow } from '../../storage/conversations/conversation-rows.ts';
import { findConversation } from '../../storage/conversations/conversations.ts';
import {
  deleteMacro as deleteMacroRow,
  findMacro,
  insertMacro,
  listMacros as listMacroRows,
  lockForMacro,
  type MacroFields,
  type MacroRow,
  updateMacro,
} from '../../storage/conversations/macros.ts';
import { type Added, insertMessage } from '../../storage/conversations/messages.ts';
import type { TenantStorage } from '../../storage/database/orm.ts';
import { findAttributes } from '../../storage/people/identities.ts';
import { authorOf } from '../credentials/author.ts';
import { operation, reply } from '../operation.ts';
import { conversationMoved } from './presenters/conversations.ts';

const MacroPath = z.object({ id: typeId('macro') });

const presentMacro = ({ id, changes, ...row }: MacroRow) => ({
  id: toTypeId('macro', id),
  ...row,
  changes: { ...changes, ...(changes.assignee_id ? { assignee_id: toTypeId('member', changes.assignee_id) } : {}) },
});

/** Returns the fields of a macro. Throws 422 if it would have no effect. */
function completeMacro(fields: Omit<NewMacro, 'name'> & { name: string }): MacroFields {
  const { name, shortcut = null, body = null, kind = 'reply', changes = {} } = fields;
  if (body === null && Object.keys(changes).length === 0)
    throw fieldFault('/body', 'required', 'Required unless "changes" has a field: the text of the macro.');
  return { name, shortcut, body, kind, changes };
}

const shared = { tag: 'Macros', credentials: ['api-key', 'session'] as ('api-key' | 'session')[] };

export const listMacros = operation({
  ...shared,
  id: 'listMacros',
  method: 'get',
  path: '/v1/macros',
  summary: 'List macros, oldest first',
  right: 'conversations:read',
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(Macro),
  async handle({ caller, query, after, page }, { storage }) {
    return page(await listMacroRows(storage.forTenant(caller.tenantId), query.limit, after), presentMacro);
  },
});

export const createMacro = operation({
  ...shared,
  id: 'createMacro',
  method: 'post',
  path: '/v1/macros',
  summary: 'Create a macro',
  description: 'A macro writes a text, changes the conversation, or both. A saved reply is a macro with only a `body`.',
  right: 'conversations:write',
  audit: 'macro.created',
  body: NewMacro,
  status: 201,
  sends: ['Location'],
  response: Macro,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, body, receivedAt }, { storage }) {
    const row = await insertMacro(storage.forTenant(caller.tenantId), completeMacro(body), receivedAt);
    const macro = presentMacro(row);
    return reply({ headers: { Location: `/v1/macros/${macro.id}` }, body: macro });
  },
});

export const readMacro = operation({
  ...shared,
  id: 'readMacro',
  method: 'get',
  path: '/v1/macros/{id}',
  summary: 'Get a macro',
  right: 'conversations:read',
  params: MacroPath,
  status: 200,
  response: Macro,
  etag: true,
  async handle({ caller, params }, { storage }) {
    return presentMacro(await findMacro(storage.forTenant(caller.tenantId), params.id));
  },
});

export const patchMacro = operation({
  ...shared,
  id: 'patchMacro',
  method: 'patch',
  path: '/v1/macros/{id}',
  summary: 'Update a macro',
  description: '`changes` replaces all changes of the macro.',
  right: 'conversations:write',
  audit: 'macro.updated',
  params: MacroPath,
  body: MacroPatch,
  status: 200,
  response: Macro,
  ifMatch: true,
  etag: true,
  async handle({ caller, params, body, receivedAt, requireMatch }, { storage }) {
    const change = (before: MacroRow) => {
      requireMatch(presentMacro(before));
      const { id, created_at, updated_at, ...fields } = before;
      return completeMacro({ ...fields, ...body });
    };
    return presentMacro(await updateMacro(storage.forTenant(caller.tenantId), params.id, change, receivedAt));
  },
});

export const deleteMacro = operation({
  ...shared,
  id: 'deleteMacro',
  method: 'delete',
  path: '/v1/macros/{id}',
  summary: 'Delete a macro',
  description: 'Messages and changes that it has made are kept.',
  right: 'conversations:write',
  audit: 'macro.deleted',
  params: MacroPath,
  status: 204,
  ifMatch: true,
  async handle({ caller, params, requireMatch }, { storage }) {
    await deleteMacroRow(storage.forTenant(caller.tenantId), params.id, row => requireMatch(presentMacro(row)));
  },
});

export const applyMacro = operation({
  ...shared,
  id: 'applyMacro',
  method: 'post',
  path: '/v1/conversations/{id}/macros/{macro_id}',
  summary: 'Apply a macro to a conversation',
  description:
    'Writes the text, with the attributes of the user, and makes the changes, in one transaction. A status that the conversation has already is no conflict. With `after`, a macro with a text does nothing if somebody has written a reply or a note since: 409 `conversation-moved` contains the newest of them in `missed`, and `force` applies it anyway.',
  right: 'conversations:write',
  audit: 'macro.applied',
  params: z.object({ id: typeId('conversation'), macro_id: typeId('macro') }),
  body: MacroApplication,
  isBodyOptional: true,
  status: 200,
  response: AppliedMacro,
  problems: ['invalid-transition', 'conversation-moved'],
  async handle({ caller, params, body, receivedAt }, { storage, metrics }) {
    const author = authorOf(caller);
    return storage.inTransaction(async transaction => {
      const tenant = transaction.forTenant(caller.tenantId);
      const macro = await findMacro(tenant, params.macro_id);
      await lockForMacro(tenant, params.id, macro);
      const before = await findConversation(tenant, params.id, undefined);
      const added = await writeText(tenant, before, macro, { author, seen: body });
      await makeChanges(tenant, before.id, macro, { author, now: receivedAt });
      const conversation = await findConversation(tenant, params.id, undefined);
      return reply({
        body: {
          conversation: presentConversation('team')(conversation),
          message: added && presentMessage('team')(added.message),
        },
        announce: () => {
          if (added && added.firstReplySeconds !== null) metrics.firstReply.observe(added.firstReplySeconds);
        },
      });
    });
  },
});

async function writeText(
  tenant: TenantStorage,
  { id, identity, identity_verified: verified }: ConversationRow,
  { body, kind }: MacroRow,
  { author, seen }: { author: Author; seen: MacroApplication },
): Promise<Added | null> {
  if (body === null) return null;
  const attributes = verified ? await findAttributes(tenant, { identity, verified }) : {};
  const text = recall(body, attributes);
  if (!Body.safeParse(text).success)
    throw fieldFault(
      '',
      'too-long',
      'The text of the macro with the attributes of the user is too long for a message.',
    );
  const content = { body: text, format: 'text', kind, ...seen } as const;
  const added = await insertMessage(tenant, id, undefined, author, content);
  if ('missed' in added) throw conversationMoved(added.missed);
  return added;
}

async function makeChanges(
  tenant: TenantStorage,
  id: string,
  macro: MacroRow,
  { author, now }: { author: Author; now: Date },
): Promise<void> {
  const reason = { type: 'macro', id: toTypeId('macro', macro.id) } as const;
  const actor = { author, reason, pointer: '/changes' };
  const [outcome] = await changeConversations(tenant, [id], actor, changeOf(macro.changes, now));
  if (outcome?.status === 'conflict')
    throw new Problem('invalid-transition', `The macro does not fit the conversation: ${outcome.code}.`);
}

/** Every operation on macros. */
export const macroRoutes = [listMacros, createMacro, readMacro, patchMacro, deleteMacro, applyMacro];
