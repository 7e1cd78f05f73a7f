import { newId } from './ids.ts';
import { createList, type List, type Page } from './pages.ts';
import { fillPath, type Query } from './path.ts';
import type { Conversation, ConversationQuery, Message, MessageQuery, NewConversation, NewMessage } from './types.ts';

/** The user's conversations with the team. Public tokens: `forbidden`. */
export interface Conversations {
  /** Lists conversations, latest activity first. */
  listConversations(query?: ConversationQuery): List<Conversation>;
  readConversation(id: string): Promise<Conversation>;
  /** Starts a conversation. Retries do not create duplicates. */
  createConversation(conversation: NewConversation): Promise<Conversation>;
  /** Marks the conversation as resolved by the user. */
  resolveConversation(id: string): Promise<Conversation>;
  /** Lists messages, oldest first. */
  listMessages(id: string, query?: MessageQuery): List<Message>;
  /** Sends a message. If the conversation was resolved more than 30 days ago, this starts a new one: see `conversation_id`. */
  createMessage(id: string, message: NewMessage): Promise<Message>;
  /** Edits an own message within 15 minutes. */
  patchMessage(id: string, messageId: string, change: { body: string; format?: 'text' | 'markdown' }): Promise<Message>;
  /** Removes the text of an own message; an empty message remains. */
  redactMessage(id: string, messageId: string): Promise<void>;
  /** Marks all messages up to this one as read; never moves back. */
  markConversationRead(id: string, seq: number): Promise<void>;
  /** Counts the conversations with unread messages. */
  countUnreadConversations(): Promise<number>;
}

const PATH = '/v1/conversations';

/** Adds a client-generated id, by which the server detects duplicates. */
const withId = <Body extends { client_message_id?: string }>(body: Body): Body => ({
  client_message_id: newId(),
  ...body,
});

/** Sends a request as the current user and returns the response body. */
export type Ask = <T>(method: string, path: string, body?: unknown, query?: Query) => Promise<T>;

/** Creates the conversation operations on top of `ask`. */
export function createConversations(ask: Ask): Conversations {
  const one = (id: string, rest = '') => fillPath(`${PATH}/{id}`, [id]) + rest;
  const message = (id: string, messageId: string) => one(id) + fillPath('/messages/{message_id}', [messageId]);
  const list = <Item>(path: string, query: object = {}): List<Item> =>
    createList(query, part => ask<Page<Item>>('GET', path, undefined, part));
  return {
    listConversations: query => list(PATH, query),
    readConversation: async id => ask('GET', one(id)),
    createConversation: conversation => ask('POST', PATH, withId(conversation)),
    resolveConversation: async id => ask('PATCH', one(id), { status: 'resolved' }),
    listMessages: (id, query) => list(one(id, '/messages'), query),
    createMessage: async (id, sent) => ask('POST', one(id, '/messages'), withId(sent)),
    patchMessage: async (id, messageId, change) => ask('PATCH', message(id, messageId), change),
    redactMessage: async (id, messageId) => ask('DELETE', message(id, messageId)),
    markConversationRead: async (id, seq) => ask('PUT', one(id, '/read'), { seq }),
    countUnreadConversations: async () => (await ask<{ count: number }>('GET', `${PATH}/unread-count`)).count,
  };
}
