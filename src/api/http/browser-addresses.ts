export const OIDC_LOGIN_PATH = '/v1/oidc/login';
export const OIDC_CALLBACK_PATH = '/v1/oidc/callback';

/** The page of the dashboard for logins. Its parameter `error` is a problem code. */
const LOGIN_PAGE = '/dashboard/login';

/** Returns the address of the login page, with a problem if there is one. */
export const loginPage = (error?: string): string =>
  error === undefined ? LOGIN_PAGE : `${LOGIN_PAGE}?error=${error}`;

const OIDC_PATHS = new Set([OIDC_LOGIN_PATH, OIDC_CALLBACK_PATH]);

/**
 * Whether a path takes part in logins through the identity provider. Such an address ignores parameters that it does not
 * know (RFC 6749 section 4.1.2), and every fault leads to the login page: a person sees the reply, not a program.
 */
export const isOidcPath = (path: string): boolean => OIDC_PATHS.has(path);

/** Whether a person opens a path, from a mail, a bookmark or the identity provider. */
export const isOpenedByPeople = (path: string): boolean =>
  isOidcPath(path) || /^\/(?:$|(?:dashboard|docs|problems)(?:\/|$))/.test(path);
