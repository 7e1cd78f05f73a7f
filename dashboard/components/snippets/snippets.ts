/** Values inserted into the snippets. */
export interface Ids {
  baseUrl: string;
  tenantId: string;
  /** Key ID, or a placeholder if there is no key. */
  keyId: string;
}

const curl = ({
  baseUrl,
  tenantId,
  keyId,
}: Ids): string => `# Signs a token for the user "user|42" and fetches their cards.
SECRET='your API key secret'
b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
HEAD=$(printf '{"alg":"HS256","typ":"JWT","cty":"svc-fpa;v=1"}' | b64)
BODY=$(printf '{"iss":"${keyId}","sub":"${tenantId}","exp":%d,"grants":{"identity":"user|42"}}' $(($(date +%s) + 3600)) | b64)
SIGN=$(printf '%s.%s' "$HEAD" "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -binary | b64)

curl -s '${baseUrl}/v1/cards' -H "Authorization: Bearer $HEAD.$BODY.$SIGN"`;

const javascript = ({
  baseUrl,
  tenantId,
  keyId,
}: Ids): string => `// npm install jose. Signing happens in your backend; the secret never leaves it.
import { SignJWT } from 'jose';

const token = await new SignJWT({ grants: { identity: 'user|42' } })
  .setProtectedHeader({ alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' })
  .setIssuer('${keyId}')
  .setSubject('${tenantId}')
  .setExpirationTime('1h')
  .sign(new TextEncoder().encode(process.env.SERVICE_API_KEY_SECRET));

// In the app, with the token from your backend:
const headers = { Authorization: \`Bearer \${token}\`, 'Content-Type': 'application/json' };
const { data: cards } = await fetch('${baseUrl}/v1/cards', { headers }).then(reply => reply.json());
for (const card of cards.slice(0, 1)) {
  const answer = {
    id: crypto.randomUUID(), revision: 1, card_id: card.id,
    question_id: card.question_id, question_version: card.question_version,
    state: 'completed', values: { main: 9 },
  };
  const body = JSON.stringify({ answers: [answer] });
  console.log(await fetch('${baseUrl}/v1/answers', { method: 'POST', headers, body }).then(reply => reply.json()));
}`;

const python = ({
  baseUrl,
  tenantId,
  keyId,
}: Ids): string => `# pip install pyjwt requests. Signing happens in your backend; the secret never leaves it.
import os, time, uuid, jwt, requests

token = jwt.encode(
    {"iss": "${keyId}", "sub": "${tenantId}",
     "exp": int(time.time()) + 3600, "grants": {"identity": "user|42"}},
    os.environ["SERVICE_API_KEY_SECRET"], algorithm="HS256",
    headers={"typ": "JWT", "cty": "svc-fpa;v=1"},
)

headers = {"Authorization": f"Bearer {token}"}
for card in requests.get("${baseUrl}/v1/cards", headers=headers).json()["data"][:1]:
    answer = {"id": str(uuid.uuid4()), "revision": 1, "card_id": card["id"],
              "question_id": card["question_id"], "question_version": card["question_version"],
              "state": "completed", "values": {"main": 9}}
    print(requests.post("${baseUrl}/v1/answers", headers=headers, json={"answers": [answer]}).json())`;

const php = ({
  tenantId,
  keyId,
}: Ids): string => `<?php // composer require lcobucci/jwt. The endpoint of your backend that issues tokens to your app.
require 'vendor/autoload.php';
use Lcobucci\\JWT\\JwtFacade;
use Lcobucci\\JWT\\Signer\\Hmac\\Sha256;
use Lcobucci\\JWT\\Signer\\Key\\InMemory;

$token = (new JwtFacade())->issue(
    new Sha256(),
    InMemory::plainText(getenv('SERVICE_API_KEY_SECRET')),
    static fn ($builder, DateTimeImmutable $now) => $builder
        ->withHeader('cty', 'svc-fpa;v=1')
        ->issuedBy('${keyId}')
        ->relatedTo('${tenantId}')
        ->expiresAt($now->modify('+1 hour'))
        ->withClaim('grants', ['identity' => 'user|42']),
);
header('Content-Type: application/json');
echo json_encode(['access_token' => $token->toString()]);`;

const swift = ({ baseUrl }: Ids): string => `// The app: a token from your own backend, then the user's cards.
import Foundation

struct Token: Decodable { let access_token: String }

func fetchCards() async throws -> Data {
    var request = URLRequest(url: URL(string: "https://your-backend.example/v1/svc/auth/token")!)
    request.httpMethod = "POST"
    let token = try JSONDecoder().decode(Token.self, from: try await URLSession.shared.data(for: request).0)

    var cards = URLRequest(url: URL(string: "${baseUrl}/v1/cards")!)
    cards.setValue("Bearer \\(token.access_token)", forHTTPHeaderField: "Authorization")
    return try await URLSession.shared.data(for: cards).0
}`;

/** The first request in curl and four languages, with the tenant's ids. */
export const SNIPPETS: { id: string; title: string; code(ids: Ids): string }[] = [
  { id: 'curl', title: 'curl', code: curl },
  { id: 'javascript', title: 'JavaScript', code: javascript },
  { id: 'python', title: 'Python', code: python },
  { id: 'php', title: 'PHP', code: php },
  { id: 'swift', title: 'Swift', code: swift },
];
