import { v7 } from 'uuid';
import { expect } from 'vitest';
import { parseTypeId, toTypeId } from '../../src/domain/ids.ts';
import type { TestApi, TestReply } from './api.ts';
import { makeTenant, type TestTenant } from './make.ts';
import { makeMember as logIn } from './person.ts';

export type Body = Record<string, unknown>;

/** One user and the team of a new tenant. */
export interface Parties {
  tenant: TestTenant;
  /** The team's API key. */
  team: string;
  /** The token of `user|42`. */
  user: string;
}

export const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

export const uuidOf = (id: string) => parseTypeId('conversation', id) as string;

export const problem = (reply: TestReply) => [reply.status, reply.body.code];

function requestsOf(api: () => TestApi) {
  async function makeParties(): Promise<Parties> {
    const tenant = await makeTenant(api());
    return { tenant, team: tenant.key.apiKey, user: await tenant.sign('user|42') };
  }

  const get = (as: string, path: string, headers: Record<string, string> = {}) =>
    api().request('GET', path, { as, headers });

  const post = (as: string, path: string, body: Body) => api().request('POST', path, { as, body });

  const patch = (as: string, path: string, body: Body, headers: Record<string, string> = {}) =>
    api().request('PATCH', path, { as, body, headers });

  const markRead = (as: string, id: string, seq: number) =>
    api().request('PUT', `/v1/conversations/${id}/read`, { as, body: { seq } });

  const start = (as: string, fields: Body = {}) => post(as, '/v1/conversations', { message: 'Hello', ...fields });

  const write = (as: string, id: string, fields: Body = {}) =>
    post(as, `/v1/conversations/${id}/messages`, { body: 'And more', ...fields });

  const read = async (as: string, id: string) => (await get(as, `/v1/conversations/${id}`)).body;

  const messages = async (as: string, id: string, query = '?limit=100') =>
    (await get(as, `/v1/conversations/${id}/messages${query}`)).body.data;

  const list = async (as: string, query = '') => (await get(as, `/v1/conversations${query}`)).body.data;

  /** Sends requests as one of two members, or with one of two API keys. */
  async function teamOf(tenant: TestTenant, kind: 'keys' | 'members') {
    const people = await Promise.all(
      kind === 'keys'
        ? [{ as: tenant.key.apiKey }, { as: (await tenant.addKey()).apiKey }]
        : ['ada', 'bob'].map(async name => {
            const { headers } = await logIn(api(), tenant, 'agent', `${name}-${v7()}@acme.example`);
            return { headers };
          }),
    );
    return (number: number, path: string, body: Body) => api().request('POST', path, { ...people[number], body });
  }

  /** All rows of a list, page by page; `between` runs after each page but the last. */
  async function readPages(
    as: string,
    path: string,
    between: () => Promise<unknown> = async () => {},
  ): Promise<Body[]> {
    const rows: Body[] = [];
    for (let next = path; ; await between()) {
      const { status, headers, body } = await get(as, next);
      expect(status).toBe(200);
      rows.push(...body.data);
      expect(body.has_more).toBe(body.next_cursor !== null);
      const link = headers.get('Link');
      if (!body.has_more) {
        expect(link).toBeNull();
        return rows;
      }
      const [, href = ''] = /^<https:\/\/parley\.test([^>]+)>; rel="next"$/.exec(link ?? '') ?? [];
      expect(new URL(href, 'https://parley.test').searchParams.get('cursor')).toBe(body.next_cursor);
      next = href;
    }
  }

  return { makeParties, get, post, patch, markRead, start, write, read, messages, list, teamOf, readPages };
}

function rowsOf(api: () => TestApi) {
  /** Moves a time of a conversation's row into the past. */
  const backdate = (id: string, column: string, interval: string) =>
    api().database.query(`update conversations set ${column} = ${column} - $2::interval where id = $1`, [
      uuidOf(id),
      interval,
    ]);

  const backdateMessages = (id: string, interval: string) =>
    api().database.query('update messages set created_at = created_at - $2::interval where conversation_id = $1', [
      uuidOf(id),
      interval,
    ]);

  async function makeMember(tenant: TestTenant): Promise<string> {
    const id = v7();
    await api().database.query(
      `with account as (
         insert into accounts (id, email, name, recovery_hashes, created_at) values ($2, $3, '', '{}', now()) returning id
       )
       insert into members (tenant_id, id, account_id, role, created_at) select $1, id, id, 'agent', now() from account`,
      [tenant.uuid, id, `${id}@acme.example`],
    );
    return toTypeId('member', id);
  }

  /** Inserts conversations, five per millisecond, so that only the id orders these. */
  const seed = (tenant: TestTenant, count: number) =>
    api().database.query(
      `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
         last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread,
         created_at, updated_at, team_updated_at, last_activity_at)
       select $1, gen_random_uuid(), 'user|42', true, 'seeded ' || n, 'open', 'none', '{}', 'user', 1, 0, 'Hello', 'user', 1, 0, 0, 1,
         at, at, at, at
       from generate_series(0, $2 - 1) as n, lateral (select timestamptz '2026-01-01' + (n / 5) * interval '1 millisecond' as at) as times`,
      [tenant.uuid, count],
    );

  return { backdate, backdateMessages, makeMember, seed };
}

/** Requests and rows of conversations, for the tests of one file. */
export const conversationsOf = (api: () => TestApi) => ({ ...requestsOf(api), ...rowsOf(api) });
