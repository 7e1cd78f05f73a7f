import type { Scene } from '../../api/mistakes/mistake.ts';

/** A kind of credential, as in the column "Who" of docs/http.md. */
export type Kind = 'session' | 'api-key' | 'access-token' | 'public-access-token' | 'none';
export const KINDS: Kind[] = ['session', 'api-key', 'access-token', 'public-access-token', 'none'];

const text = (value: unknown): string => JSON.stringify(value); // also the syntax of texts and lists in TOML

/** The bearer credential of a kind, by the security scheme of the document. */
const BEARERS: Partial<Record<Kind, [scheme: string, member: 'key' | 'token' | 'guest']>> = {
  'api-key': ['apiKey', 'key'],
  'access-token': ['accessToken', 'token'],
  'public-access-token': ['publicAccessToken', 'guest'],
};

/** The configuration of the credential. Without one, HTTP Basic with a public key gets public access tokens. */
function authOf(kind: Kind, scene: Scene): string[] {
  const [scheme, member] = BEARERS[kind] ?? [];
  if (member) return [`[auth.openapi.${scheme}]`, `bearer = ${text(scene[member])}`];
  if (kind === 'none')
    return ['[auth.openapi.publicKey]', 'username = "api_key"', `password = ${text(scene.publicKey.id)}`];
  return ['[auth.openapi.session]', `api_key = ${text(scene.owner.headers.Cookie?.split('=')[1])}`];
}

/** Values that exist, for parameters of operations whose path matches. Other values are generated for the rest of the cases. */
const knownValues = (scene: Scene): [path: string, parameter: string, values: string[]][] => [
  ['^/v1/questions/', 'path.id', [scene.question, scene.choice, scene.draft]],
  ['^/v1/conversations/', 'path.id', [scene.conversation]],
  ['^/v1/api-keys/', 'path.id', [scene.publicKey.id, scene.tenant.key.id]],
  ['^/v1/members/[^/]+$', 'path.id', [scene.agent.memberId]],
  ['^/v1/identities/', 'path.identity', ['user|42']],
  ['^/v1/tenants/', 'path.tenant_id', [scene.tenant.id]],
];

/** Returns the configuration file of Schemathesis for a run with one kind of credential. */
export function configurationOf(kind: Kind, scene: Scene, leftOut: string[]): string {
  const lines = ['[checks.positive_data_acceptance]'];
  // Besides 2xx: wrong credentials, absent objects, conflicts with stored objects.
  lines.push('expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "429"]');
  if (kind === 'session') {
    lines.push('[parameters]', `"header.Tenant-Id" = ${text(scene.tenant.id)}`);
    lines.push(`"header.X-CSRF-Token" = ${text(scene.owner.headers['X-CSRF-Token'])}`);
  }
  lines.push(...authOf(kind, scene));
  const known = knownValues(scene);
  lines.push('[dictionaries]', ...known.map(([, , values], index) => `known${index} = { values = ${text(values)} }`));
  for (const [index, [path, parameter]] of known.entries())
    lines.push(
      '[[operations]]',
      `include-path-regex = ${text(path)}`,
      `parameters = { ${text(parameter)} = { dictionary = "known${index}", probability = 0.7 } }`,
    );
  for (const operation of leftOut) lines.push('[[operations]]', `include-name = ${text(operation)}`, 'enabled = false');
  return `${lines.join('\n')}\n`;
}
