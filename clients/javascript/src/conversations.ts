import { newId } from './ids.ts';
import { createList, type List, type Page } from './pages.ts';
import { fillPath, type Query } from './path.ts';
import type { Conversation, ConversationQuery, Message, MessageQuery, NewConversation, NewMessage } from './types.ts';

/** The user's own conversations with the team. A public access token has none: `forbidden`. */
export interface Conversations {
  /** Newest activity first. */
  listConversations(query?: ConversationQuery): List<Conversation>;
  readConversation(id: string): Promise<Conversation>;
  /** Starts one; however often it is sent, it is written once. */
  createConversation(conversation: NewConversation): Promise<Conversation>;
  /** The user's own word that it is done with. */
  resolveConversation(id: string): Promise<Conversation>;
  /** Oldest first. */
  listMessages(id: string, query?: MessageQuery): List<Message>;
  /** Replies. In a conversation resolved more than 30 days ago it starts a new one, which `conversation_id` names. */
  createMessage(id: string, message: NewMessage): Promise<Message>;
  /** Changes a message of one's own, for 15 minutes. */
  patchMessage(id: string, messageId: string, change: { body: string; format?: 'text' | 'markdown' }): Promise<Message>;
  /** Takes back the text of a message of one's own; its place stays. */
  redactMessage(id: string, messageId: string): Promise<void>;
  /** Everything up to this message was read; never moves back. */
  markConversationRead(id: string, seq: number): Promise<void>;
  /** How many conversations hold something unread. */
  countUnreadConversations(): Promise<number>;
}

const PATH = '/v1/conversations';

/** A body with an id of the client's own, by which the server knows it again. */
const withId = <Body extends { client_message_id?: string }>(body: Body): Body => ({
  client_message_id: newId(),
  ...body,
});

/** Sends a request as the present user, and gives what the reply says. */
export type Ask = <T>(method: string, path: string, body?: unknown, query?: Query) => Promise<T>;

/** The operations on conversations, by way of `ask`. */
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
