/** Base path of the dashboard. */
export const BASE = '/dashboard';

/** Prefix of a tenant's pages, relative to `BASE`. */
export const TENANT = '/t/:tenant';

/** Paths of pages without a tenant, relative to `BASE`. */
const OUTER_PATHS = {
  start: '/',
  setup: '/setup',
  login: '/login',
  forgotten: '/forgotten',
  reset: '/reset',
  invitation: '/invitation',
  me: '/me',
} as const;

/** Paths of a tenant's pages, relative to `TENANT`. Fixed paths precede patterns. */
export const TENANT_PATHS = {
  home: '/home',
  inbox: '/inbox/:view?/:id?',
  questions: '/questions',
  newQuestion: '/questions/new',
  question: '/questions/:id/build',
  questionResults: '/questions/:id/results',
  questionAnswers: '/questions/:id/answers',
  questionVersions: '/questions/:id/versions',
  people: '/people',
  identity: '/people/:identity',
  insights: '/insights',
  data: '/data',
  general: '/settings/general',
  appearance: '/settings/appearance',
  inboxSettings: '/settings/inbox',
  apiKeys: '/settings/api-keys',
  savedReplies: '/settings/saved-replies',
  webhooks: '/settings/webhooks',
  webhook: '/settings/webhooks/:id',
  events: '/settings/events',
  members: '/settings/members',
  auditLog: '/settings/audit-log',
} as const;

/** Earlier paths and their successors, relative to the tenant. */
const MOVED: Record<string, string> = {
  '/questions/:id': '/questions/:id/build',
  '/ingestion': '/data',
  '/settings': '/settings/general',
};
/** Earlier paths of pages that belong to no tenant now. */
const MOVED_OUT: Record<string, string> = { '/settings/security': OUTER_PATHS.me };

export type OuterPathName = keyof typeof OUTER_PATHS;
export type TenantPathName = keyof typeof TENANT_PATHS;
/** `conversation` is the inbox with an id; without a view, all conversations are listed. */
export type PathName = OuterPathName | TenantPathName | 'conversation';

export const PATHS = { ...OUTER_PATHS, ...TENANT_PATHS } as const;

/** All paths with a page, relative to `BASE`. The server returns 404 for any other path. */
export const SERVED_PATHS: readonly string[] = [
  ...Object.values(OUTER_PATHS),
  TENANT,
  ...[...Object.values(TENANT_PATHS), ...Object.keys(MOVED), ...Object.keys(MOVED_OUT)].flatMap(path => [
    `${TENANT}${path}`,
    path,
  ]),
];

const fill = (pattern: string, params: Record<string, string>): string =>
  pattern
    .replaceAll(/\/:(\w+)\?/g, (_, name: string) => (params[name] ? `/${encodeURIComponent(params[name])}` : ''))
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

const isOuter = (name: PathName): name is OuterPathName => Object.hasOwn(OUTER_PATHS, name);

/**
 * Returns the path of a page for links and navigation, with its parameters filled in: of a tenant's page relative to the
 * tenant, of another page absolute (`~/dashboard/me`).
 */
export function pathTo(name: PathName, params: Record<string, string> = {}): string {
  if (isOuter(name)) return `~${BASE}${OUTER_PATHS[name]}`;
  if (name === 'conversation') return fill(TENANT_PATHS.inbox, { view: 'all', ...params });
  return fill(TENANT_PATHS[name], params);
}

/** Returns the absolute path of a page of this tenant, for navigation from anywhere. */
export const pathIn = (tenantId: string, path: string): string => `~${BASE}/t/${tenantId}${path}`;

/** Returns the pattern as a regular expression with named groups: `/questions/:id` has one segment for the id. */
export const expressionOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replaceAll(/\/:(\w+)(\??)/g, (_, name: string, optional: string) => `(?:/(?<${name}>[^/]+))${optional}`)}$`,
  );

function successorIn(moved: Record<string, string>, path: string): string | undefined {
  for (const [from, to] of Object.entries(moved)) {
    const match = expressionOf(from).exec(path);
    if (match) return to.replaceAll(/:(\w+)/g, (_, name: string) => match.groups?.[name] ?? '');
  }
  return undefined;
}

/**
 * Returns the current path of a tenant's page, relative to the tenant, for its current or an earlier path; undefined if
 * there is no such page. Segments stay encoded.
 */
export function tenantPath(path: string): string | undefined {
  if (Object.values(TENANT_PATHS).some(pattern => expressionOf(pattern).test(path))) return path;
  return successorIn(MOVED, path);
}

/** Returns the path, relative to `BASE`, of a page that no longer belongs to a tenant. */
export const outerPath = (path: string): string | undefined => successorIn(MOVED_OUT, path);
