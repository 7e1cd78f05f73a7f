/** Hosts of providers with one issuer for the accounts of many organizations, or of anybody. */
const SHARED_HOSTS = new Set([
  'accounts.google.com',
  'appleid.apple.com',
  'api.login.yahoo.com',
  'discord.com',
  'gitlab.com',
  'id.twitch.tv',
  'login.salesforce.com',
  'slack.com',
  'test.salesforce.com',
  'www.facebook.com',
  'www.linkedin.com',
  'www.paypal.com',
]);

/** Hosts of Microsoft Entra ID, whose issuers name the directory in the first segment of their path. */
const ENTRA_HOSTS = new Set([
  'login.chinacloudapi.cn',
  'login.microsoft.com',
  'login.microsoftonline.com',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
  'login.windows.net',
  'sts.windows.net',
]);

/** Names of Entra issuers for many directories. The id is that of all personal Microsoft accounts. */
const ENTRA_SHARED = new Set(['', 'common', 'consumers', 'organizations', '9188040d-6c67-4c5b-b112-36a304b66dad']);

/**
 * Whether the accounts of an issuer belong to many directories, as far as known. The addresses of such an issuer are not
 * those of one organization, so they cannot be trusted as a whole.
 */
export function servesManyDirectories(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  if (!ENTRA_HOSTS.has(hostname)) return SHARED_HOSTS.has(hostname);
  return ENTRA_SHARED.has((pathname.split('/')[1] as string).toLowerCase());
}
