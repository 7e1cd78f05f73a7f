import type { CallOptions } from './call.ts';
import type { Client } from './client.ts';
import { unreadable } from './errors.ts';
import { newId } from './ids.ts';
import { createList, type List, readPage } from './pages.ts';
import { fillPath } from './path.ts';
import type { Conversation, ConversationQuery, Message, MessageQuery, NewConversation, NewMessage } from './types.ts';

/** The user's conversations with the team. Public tokens: `forbidden`. */
export interface Conversations {
  /** Lists conversations, latest activity first. */
  list(query?: ConversationQuery, options?: CallOptions): List<Conversation>;
  read(id: string, options?: CallOptions): Promise<Conversation>;
  /** Starts a conversation. Retries do not create duplicates. */
  create(conversation: NewConversation, options?: CallOptions): Promise<Conversation>;
  /** Marks the conversation as resolved by the user. */
  resolve(id: string, options?: CallOptions): Promise<Conversation>;
  /** Marks all messages up to this one as read; never moves back. */
  markRead(id: string, seq: number, options?: CallOptions): Promise<void>;
  /** Counts the conversations with unread messages. */
  countUnread(options?: CallOptions): Promise<number>;
  /** Lists messages, oldest first; with `order: 'desc'` newest first. */
  listMessages(id: string, query?: MessageQuery, options?: CallOptions): List<Message>;
  /** Sends a message. If the conversation was resolved more than 30 days ago, this starts a new one: see `conversation_id`. */
  createMessage(id: string, message: NewMessage, options?: CallOptions): Promise<Message>;
  /** Returns a message. */
  readMessage(id: string, messageId: string, options?: CallOptions): Promise<Message>;
  /** Edits an own message within 15 minutes. */
  updateMessage(
    id: string,
    messageId: string,
    patch: Pick<NewMessage, 'body' | 'format'>,
    options?: CallOptions,
  ): Promise<Message>;
  /** Removes the text of an own message; an empty message remains. */
  redactMessage(id: string, messageId: string, options?: CallOptions): Promise<void>;
}

/** Sends requests as the current user. */
type Requester = Pick<Client, 'request'>;

const PATH = '/v1/conversations';
const pathOf = (id: string, rest = ''): string => fillPath(`${PATH}/{id}`, [id]) + rest;
const messagePathOf = (id: string, messageId: string): string =>
  pathOf(id) + fillPath('/messages/{message_id}', [messageId]);

/** Adds a client-generated id, by which the server detects duplicates. */
const withId = <Body extends { client_message_id?: string }>(body: Body): Body => ({
  client_message_id: newId(),
  ...body,
});

/** Counts the user's conversations with unread messages. */
export async function countUnread(client: Requester, options?: CallOptions): Promise<number> {
  const operation = 'countUnreadConversations';
  const { json, status, headers } = await client.request({
    operation,
    method: 'GET',
    path: `${PATH}/unread-count`,
    options,
  });
  const { count } = Object(json) as { count: number };
  if (typeof count !== 'number') throw unreadable(status, headers);
  return count;
}

/** Creates the operations on the conversations of a client's users. */
export function createConversations(client: Requester): Conversations {
  /** Sends a request and returns the body of the response. `options` are those of the call. */
  const ask = async <T>(
    operation: string,
    method: string,
    path: string,
    options?: CallOptions,
    sent: { body?: unknown } = {},
  ): Promise<T> => (await client.request({ operation, method, path, options, ...sent })).json as T;
  const list = <Item>(operation: string, path: string, options?: CallOptions, query: object = {}): List<Item> =>
    createList(query, async page =>
      readPage(await client.request({ operation, method: 'GET', path, options, query: page })),
    );

  return {
    list: (query, options) => list('listConversations', PATH, options, query),
    read: async (id, options) => ask('readConversation', 'GET', pathOf(id), options),
    create: async (conversation, options) =>
      ask('createConversation', 'POST', PATH, options, { body: withId(conversation) }),
    resolve: async (id, options) =>
      ask('patchConversation', 'PATCH', pathOf(id), options, { body: { status: 'resolved' } }),
    markRead: async (id, seq, options) =>
      ask('markConversationRead', 'PUT', pathOf(id, '/read'), options, { body: { seq } }),
    countUnread: options => countUnread(client, options),
    listMessages: (id, query, options) => list('listMessages', pathOf(id, '/messages'), options, query),
    createMessage: async (id, message, options) =>
      ask('createMessage', 'POST', pathOf(id, '/messages'), options, { body: withId(message) }),
    readMessage: async (id, messageId, options) => ask('readMessage', 'GET', messagePathOf(id, messageId), options),
    updateMessage: async (id, messageId, body, options) =>
      ask('patchMessage', 'PATCH', messagePathOf(id, messageId), options, { body }),
    redactMessage: async (id, messageId, options) =>
      ask('redactMessage', 'DELETE', messagePathOf(id, messageId), options),
  };
}
