import { Email } from './accounts.ts';

/** The claims of an ID token, or of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/** Which claim has the address (`OIDC_EMAIL_CLAIM`), and whose statement makes it a verified one (`OIDC_TRUST_EMAIL`). */
export interface EmailRules {
  claim: string;
  trust: 'claim' | 'issuer';
}

/** Returns the address in a claim, if it is one that an account can have. Azure AD B2C sends it in a list (`emails`). */
function addressIn(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  return Email.safeParse(Array.isArray(value) && value.length === 1 ? value[0] : value).data;
}

/**
 * Returns what claims state about an address with `email_verified`; `undefined` if nothing.
 *
 * The flag is about `email`, so it does not count if that is another address. Amazon Cognito sends it as text.
 */
function verdictOn(address: string, claims: Claims, { claim }: EmailRules): boolean | undefined {
  const flag = claims.email_verified;
  if (flag === undefined || flag === null) return undefined;
  const about = addressIn(claims, claims.email === undefined ? claim : 'email');
  return about === address ? flag === true || flag === 'true' : undefined;
}

/** Whether an ID token leaves open which address the person has, or whether it is verified. */
export function lacksEmail(idToken: Claims, rules: EmailRules): boolean {
  const address = addressIn(idToken, rules.claim);
  return address === undefined || verdictOn(address, idToken, rules) === undefined;
}

/** An address that the identity provider vouches for, or the reason why there is none. */
export type VouchedEmail = { email: string } | { refusal: 'email-missing' | 'email-unverified' };

/** Returns the address of a person. `userinfo` is that of the same subject; the ID token takes precedence. */
export function readEmail(idToken: Claims, userinfo: Claims, rules: EmailRules): VouchedEmail {
  const email = addressIn(idToken, rules.claim) ?? addressIn(userinfo, rules.claim);
  if (email === undefined) return { refusal: 'email-missing' };
  const verdict = verdictOn(email, idToken, rules) ?? verdictOn(email, userinfo, rules);
  return (verdict ?? rules.trust === 'issuer') ? { email } : { refusal: 'email-unverified' };
}

/** Returns the display name of a person, or an empty text. Some providers send it only in parts. */
export function readName(idToken: Claims, userinfo: Claims): string {
  const names = [idToken, userinfo].flatMap(({ name, given_name, family_name }) => [name, [given_name, family_name]]);
  const name = names.map(toText).find(text => text !== '') ?? '';
  return Array.from(name).slice(0, 120).join('');
}

/** Returns a claim, or the texts of several with a space between them, as storable text. */
const toText = (value: unknown): string =>
  [value]
    .flat()
    .filter(part => typeof part === 'string')
    .join(' ')
    .replaceAll('\u0000', '')
    .toWellFormed()
    .trim();
