/** Base path of the dashboard. */
export const BASE = '/dashboard';

/** Paths of all pages, relative to `BASE`. The server returns 404 for any other path. */
export const PATHS = {
  home: '/',
  setup: '/setup',
  login: '/login',
  forgotten: '/forgotten',
  reset: '/reset',
  invitation: '/invitation',
  questions: '/questions',
  newQuestion: '/questions/new',
  question: '/questions/:id',
  questionResults: '/questions/:id/results',
  questionVersions: '/questions/:id/versions',
  inbox: '/inbox',
  conversation: '/inbox/:id',
  identity: '/people/:identity',
  ingestion: '/ingestion',
  general: '/settings',
  apiKeys: '/settings/api-keys',
  members: '/settings/members',
  security: '/settings/security',
  auditLog: '/settings/audit-log',
} as const;

export type PathName = keyof typeof PATHS;

/** Returns the path of a page, relative to `BASE`, with its parameters filled in. */
export const pathTo = (name: PathName, params: Record<string, string> = {}): string =>
  PATHS[name].replaceAll(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(params[parameter] ?? ''));
