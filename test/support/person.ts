import { beginSession } from '../../src/api/credentials/sessions.ts';
import { newUuid, toTypeId } from '../../src/domain/ids.ts';
import type { Role } from '../../src/domain/team/roles.ts';
import { hashPassword } from '../../src/platform/passwords.ts';
import { addMember } from '../../src/storage/team/members.ts';
import { startSession } from '../../src/storage/team/sessions.ts';
import type { TestApi, TestReply } from './api.ts';
import { storageOf, type TestTenant } from './make.ts';

export const PASSWORD = 'correct horse battery';

/** One hash for all persons of a test file, because each takes a tenth of a second. */
let passwordHash: Promise<string> | undefined;

export interface TestPerson {
  accountId: string;
  /** A wire id, `member_…`. */
  memberId: string;
  email: string;
  /** Headers that the browser of a session sends with a write: cookie, CSRF token, tenant. */
  headers: Record<string, string>;
}

/** The cookie that a browser sends after this `Set-Cookie`. */
export const cookieOf = (setCookie: string): string => setCookie.split(';')[0] as string;

/** The headers of a session, from the reply that started it. */
export const headersOf = ({ headers, body }: TestReply, tenantId?: string): Record<string, string> => ({
  Cookie: cookieOf(headers.get('Set-Cookie') ?? ''),
  'X-CSRF-Token': body.csrf_token,
  ...(tenantId === undefined ? {} : { 'Tenant-Id': tenantId }),
});

/** Creates a member of a tenant with the password `PASSWORD`, logged in. */
export async function makeMember(api: TestApi, tenant: TestTenant, role: Role, email = ''): Promise<TestPerson> {
  passwordHash ??= hashPassword(PASSWORD);
  const accountId = newUuid();
  const address = email || `${role}-${accountId}@acme.example`;
  const account = { id: accountId, email: address, name: `The ${role}`, password_hash: await passwordHash };
  const storage = storageOf(api);
  const memberId = await addMember(storage, tenant.uuid, { ...account, exists: false }, role, new Date());
  const session = await openSession(api, accountId);
  return {
    accountId,
    memberId: toTypeId('member', memberId),
    email: address,
    headers: { ...session, 'Tenant-Id': tenant.id },
  };
}

/** Opens another session of a person. */
export async function openSession(api: TestApi, accountId: string): Promise<Record<string, string>> {
  const { row, cookie, csrfToken } = beginSession(
    { userAgent: 'a test', ip: '192.0.2.7' },
    { ...api, now: () => new Date() },
  );
  await startSession(storageOf(api).forAccount(accountId), row, new Date());
  return { Cookie: cookieOf(cookie), 'X-CSRF-Token': csrfToken };
}

/** Adds an existing account to another tenant. */
export const joinTenant = (api: TestApi, tenant: TestTenant, person: TestPerson, role: Role): Promise<string> => {
  const account = { id: person.accountId, email: person.email, name: '', password_hash: null, exists: true };
  return addMember(storageOf(api), tenant.uuid, account, role, new Date());
};

/** Logs in over HTTP. */
export const logIn = (api: TestApi, email: string, password = PASSWORD, more: object = {}): Promise<TestReply> =>
  api.request('POST', '/v1/session', { body: { email, password, ...more } });
