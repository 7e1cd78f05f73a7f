/** The claims that a directory sends, and the outcomes of a login. */
export interface Directory {
  /** Claims of the ID token. */
  idToken(email: string): Record<string, unknown>;
  /** Claims of the userinfo endpoint, where they differ. */
  userinfo?(email: string): Record<string, unknown>;
  /** Additional parameters of the callback. */
  callback?: string;
  /** The outcome with `OIDC_TRUST_EMAIL=claim`, and with `issuer`. */
  outcomes: [string, string];
}

/** Six directories, and cases that differ from theirs. */
export const DIRECTORIES: Record<string, Directory> = {
  'Microsoft Entra ID, which never states whether an address is verified': {
    idToken: email => ({ email, name: 'Grace', oid: '1', tid: '2', preferred_username: email }),
    callback: '&session_state=4f1c',
    outcomes: ['email-unverified', 'in'],
  },
  'Microsoft Entra ID, for a person without a mailbox': {
    idToken: email => ({ name: 'Grace', oid: '1', tid: '2', preferred_username: email }),
    outcomes: ['email-missing', 'email-missing'],
  },
  'Okta, which states it in userinfo only': {
    idToken: email => ({ email, name: 'Grace', preferred_username: email }),
    userinfo: email => ({ email, email_verified: true, name: 'Grace' }),
    outcomes: ['in', 'in'],
  },
  'Okta with a thin ID token': {
    idToken: () => ({}),
    userinfo: email => ({ email, email_verified: true, name: 'Grace' }),
    outcomes: ['in', 'in'],
  },
  'Google Workspace': {
    idToken: email => ({ email, email_verified: true, name: 'Grace', hd: 'acme.example' }),
    callback: '&authuser=0&hd=acme.example&prompt=consent&scope=openid+email',
    outcomes: ['in', 'in'],
  },
  Keycloak: {
    idToken: email => ({ email, email_verified: true, name: 'Grace', preferred_username: 'grace' }),
    callback: '&session_state=a-b-c',
    outcomes: ['in', 'in'],
  },
  'Keycloak, for an address that was not verified': {
    idToken: email => ({ email, email_verified: false, preferred_username: 'grace' }),
    outcomes: ['email-unverified', 'email-unverified'],
  },
  'authentik before 2025.10': {
    idToken: email => ({ email, email_verified: true, preferred_username: 'grace', groups: ['staff'] }),
    outcomes: ['in', 'in'],
  },
  'authentik since 2025.10, whose default mapping states false': {
    idToken: email => ({ email, email_verified: false, preferred_username: 'grace', groups: ['staff'] }),
    outcomes: ['email-unverified', 'email-unverified'],
  },
  'Amazon Cognito, which writes the flag as text': {
    idToken: email => ({ email, email_verified: 'true', 'cognito:username': 'grace' }),
    outcomes: ['in', 'in'],
  },
  'Amazon Cognito, whose userinfo writes it as text': {
    idToken: () => ({ 'cognito:username': 'grace' }),
    userinfo: email => ({ email, email_verified: 'true', username: 'grace' }),
    outcomes: ['in', 'in'],
  },
  'Amazon Cognito, for an address that was not verified': {
    idToken: email => ({ email, email_verified: 'false', 'cognito:username': 'grace' }),
    outcomes: ['email-unverified', 'email-unverified'],
  },
  'a directory that capitalizes addresses': {
    idToken: email => ({ email: email.toUpperCase(), email_verified: true }),
    outcomes: ['in', 'in'],
  },
  'a provider whose userinfo has another address': {
    idToken: email => ({ email }),
    userinfo: () => ({ email: 'other@acme.example', email_verified: true }),
    outcomes: ['email-unverified', 'in'],
  },
  'a provider whose userinfo has no address': {
    idToken: email => ({ email }),
    userinfo: () => ({ email_verified: true }),
    outcomes: ['email-unverified', 'in'],
  },
  'a provider with null as the flag': {
    idToken: email => ({ email, email_verified: null }),
    outcomes: ['email-unverified', 'in'],
  },
};
