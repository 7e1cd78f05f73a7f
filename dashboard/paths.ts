/** Where the pages live below the address of Parley. */
export const BASE = '/dashboard';

/** The path of every page under `BASE`. The server gives the page for these, and 404 for everything else there. */
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

/** The path of a page with its parameters filled in, relative to `BASE`. */
export const pathTo = (name: PathName, params: Record<string, string> = {}): string =>
  PATHS[name].replaceAll(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(params[parameter] ?? ''));
