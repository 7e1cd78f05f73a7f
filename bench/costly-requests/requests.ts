import { newUuid } from '../../src/domain/ids.ts';
import { signToken, type Tenant } from '../world.ts';

/** A request of the client thread. */
export interface SentRequest {
  method: string;
  path: string;
  token: string;
  body?: string | undefined;
  headers?: Record<string, string>;
}

/** An expensive request, and how to send it. Each is sent 20 times. */
export interface CostlyRequest {
  operation: string;
  input: string;
  /** Prepares and returns the request. Its preparation is not measured. */
  make(turn: number): SentRequest | Promise<SentRequest>;
  status: number;
}

export type Send = (request: SentRequest) => Promise<{ status: number; text: string }>;

const BODY_BYTES = 256 * 1024 - 64;
const LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'fi'];
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const keyed = <T>(count: number, name: (index: number) => string, value: T) =>
  Object.fromEntries(times(count, index => [name(index), value]));

const OPTIONS = times(30, index => ({ id: `option-${index}`, label: `Label ${index}` }));
const labels = keyed(30, index => `option-${index}`, 'Label');
const stepTexts = { title: 'Title', config: { options: labels } };

/** A question with as many steps, options and languages as 256 KB hold. */
export const largeQuestion = (title = 'Which?') => ({
  type: 'multi_choice',
  title,
  config: { options: OPTIONS },
  follow_ups: times(9, index => ({ key: `step-${index}`, type: 'multi_choice', title, config: { options: OPTIONS } })),
  translations: Object.fromEntries(
    LANGUAGES.map(tag => [tag, { ...stepTexts, follow_ups: keyed(9, index => `step-${index}`, stepTexts) }]),
  ),
  frequency: { repeat: 'always', ignore_cooldown: true },
});

/** A question whose last step cannot be shown, which only a search through all alternatives can prove. */
const mazeQuestion = () => ({
  type: 'nps',
  title: 'Maze',
  follow_ups: times(9, index => ({
    key: `step-${index}`,
    type: 'multi_choice',
    title: 'Step',
    config: { options: OPTIONS, max: 2 },
    show_if: index === 0 ? null : { any: times(5, at => conditionOf(index, at)) },
  })),
});

const conditionOf = (index: number, at: number) =>
  index < 3
    ? { step: 'main', op: 'in', value: [at, at + 1] }
    : { step: `step-${index - 1 - (at % 2)}`, op: 'contains_all', value: [`option-${at}`, `option-${at + 9 - index}`] };

/** An audience of 20 conditions. */
export const largeAudience = {
  all: times(20, index => ({ attribute: `a${index}`, op: 'not_in', value: times(60, at => `value-${at}`) })),
};

async function created(send: Send, token: string, question: object): Promise<string> {
  const body = JSON.stringify(question);
  const reply = await send({ method: 'POST', path: '/v1/questions', token, body });
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
  return JSON.parse(reply.text).id;
}

/** Requests that are refused for their form. */
function invalidRequests({ apiKey: token }: Tenant, user: string): CostlyRequest[] {
  const language = (index: number) =>
    `${'abcdefghij'[Math.floor(index / 1000)]}${'abcdefghij'[Math.floor(index / 100) % 10]}-${index}x`;
  const deep = (depth: number): unknown => (depth === 0 ? { op: 'eq' } : { all: times(20, () => deep(depth - 1)) });
  const invalid = (operation: string, input: string, request: string, sent: object, as = token): CostlyRequest => {
    const [method = '', path = ''] = request.split(' ');
    const body = JSON.stringify(sent);
    if (body.length > BODY_BYTES) throw new Error(`${input}: ${body.length} bytes`);
    return { operation, input, status: 422, make: () => ({ method, path, token: as, body }) };
  };
  const answers = times(90, () => ({ id: newUuid(), metadata: keyed(230, index => `m${index}`, null) }));
  return [
    invalid('createQuestion', '20,000 unknown fields', 'POST /v1/questions', {
      type: 'nps',
      ...keyed(20_000, index => `u${index}`, 0),
    }),
    invalid('createQuestion', '9,999 unknown languages', 'POST /v1/questions', {
      type: 'nps',
      title: 'T',
      translations: keyed(9_999, language, {}),
    }),
    invalid('createQuestion', 'audience of 8,000 conditions', 'POST /v1/questions', {
      type: 'nps',
      title: 'T',
      audience: deep(3),
    }),
    invalid('createConversation', '60,000 items in place of a text', 'POST /v1/conversations', {
      message: times(60_000, () => 0),
    }),
    invalid('createWebhook', '60,000 items that are no types', 'POST /v1/webhooks', {
      url: 'https://a.example',
      event_types: times(60_000, () => 0),
    }),
    {
      ...invalid('recordAnswers', '90 items with 230 invalid metadata', 'POST /v1/answers', { answers }, user),
      status: 202,
    },
    {
      ...invalid(
        'recordAnswers',
        '100 items with 500 unknown fields',
        'POST /v1/answers',
        {
          answers: times(35, () => keyed(700, index => `u${index}`, 0)),
        },
        user,
      ),
      status: 202,
    },
    {
      ...invalid('saveIdentities', '100 items with 150 invalid attributes', 'POST /v1/identities', {
        identities: times(100, index => ({
          identity: `i${index}`,
          attributes: keyed(150, at => `attribute ${at}`, {}),
        })).slice(0, 80),
      }),
      status: 200,
    },
  ];
}

/** Requests on large questions. */
function questionRequests({ apiKey: token }: Tenant, send: Send): CostlyRequest[] {
  const body = JSON.stringify(largeQuestion());
  let live = '';
  return [
    {
      operation: 'createQuestion',
      input: '10 steps × 30 options × 10 languages',
      status: 201,
      make: turn => ({
        method: 'POST',
        path: '/v1/questions',
        token,
        body,
        headers: { 'Idempotency-Key': `q${turn}` },
      }),
    },
    {
      operation: 'patchQuestion',
      input: 'the same, live, of which every text changes',
      status: 200,
      async make(turn) {
        if (live === '') {
          live = await created(send, token, largeQuestion());
          await send({ method: 'POST', path: `/v1/questions/${live}/publish`, token });
        }
        const { type: _, config: __, ...patch } = largeQuestion(`Which ${turn}?`);
        return { method: 'PATCH', path: `/v1/questions/${live}`, token, body: JSON.stringify(patch) };
      },
    },
    {
      operation: 'listQuestionVersions',
      input: '20 versions of it',
      status: 200,
      make: () => ({ method: 'GET', path: `/v1/questions/${live}/versions?limit=100`, token }),
    },
    {
      operation: 'publishQuestion',
      input: '8 steps with 5 alternatives each',
      status: 200,
      make: async () => ({
        method: 'POST',
        path: `/v1/questions/${await created(send, token, mazeQuestion())}/publish`,
        token,
      }),
    },
    {
      operation: 'publishQuestion',
      input: '10 languages without texts',
      status: 422,
      async make() {
        const question = { ...largeQuestion(), translations: Object.fromEntries(LANGUAGES.map(tag => [tag, {}])) };
        return { method: 'POST', path: `/v1/questions/${await created(send, token, question)}/publish`, token };
      },
    },
    {
      operation: 'listQuestions',
      input: '100 such questions',
      status: 200,
      make: () => ({ method: 'GET', path: '/v1/questions?limit=100', token }),
    },
    {
      operation: 'listCards',
      input: 'first fetch after a change of such questions',
      status: 200,
      async make(turn) {
        const path = `/v1/questions/${live}`;
        await send({ method: 'PATCH', path, token, body: JSON.stringify({ priority: turn + 1 }) });
        return { method: 'GET', path: '/v1/cards', token: '' };
      },
    },
  ];
}

/** Requests with much valid data. */
function dataRequests({ apiKey: token }: Tenant, send: Send): CostlyRequest[] {
  const attributes = keyed(50, index => `attribute-${index}`, 'value');
  const identities = (turn: number) =>
    times(100, index => ({ identity: `person-${index}`, attributes: { ...attributes, turn } }));
  let conversation = '';
  return [
    {
      operation: 'saveIdentities',
      input: '100 users with 50 attributes',
      status: 200,
      make: turn => ({
        method: 'POST',
        path: '/v1/identities',
        token,
        body: JSON.stringify({ identities: identities(turn) }),
      }),
    },
    {
      operation: 'listIdentities',
      input: '100 of them',
      status: 200,
      make: () => ({ method: 'GET', path: '/v1/identities?limit=100', token }),
    },
    {
      operation: 'createMessage',
      input: '10,000 accented letters, digits and pictographs',
      status: 201,
      async make(turn) {
        if (conversation === '') {
          const start = JSON.stringify({ identity: 'person-1', message: 'Hello' });
          const reply = await send({ method: 'POST', path: '/v1/conversations', token, body: start });
          conversation = `/v1/conversations/${JSON.parse(reply.text).id}/messages`;
        }
        const text = times(2500, at => `ü${(at + turn).toString(36)}漢😀`)
          .join('')
          .slice(0, 9_990)
          .toWellFormed();
        return { method: 'POST', path: conversation, token, body: JSON.stringify({ body: text }) };
      },
    },
    {
      operation: 'listMessages',
      input: '20 of them',
      status: 200,
      make: () => ({ method: 'GET', path: `${conversation}?limit=100`, token }),
    },
    {
      operation: 'readEvents',
      input: '100 events with their objects',
      status: 200,
      make: () => ({ method: 'GET', path: '/v1/events?limit=100&expand=true', token }),
    },
    {
      operation: 'listConversations',
      input: 'a search of 200 characters',
      status: 200,
      make: () => ({ method: 'GET', path: `/v1/conversations?q=${encodeURIComponent('ü😀漢'.repeat(50))}`, token }),
    },
  ];
}

/** Returns the most expensive requests that were found for each kind of operation, the cheap ones included. */
export const costlyRequests = (tenant: Tenant, send: Send): CostlyRequest[] => {
  const user = signToken(tenant, 'user|1');
  return [
    ...invalidRequests(tenant, user),
    ...questionRequests(tenant, send).map(each =>
      each.operation === 'listCards' ? { ...each, make: asUser(each.make, user) } : each,
    ),
    ...dataRequests(tenant, send),
  ];
};

const asUser =
  (make: CostlyRequest['make'], token: string): CostlyRequest['make'] =>
  async turn => ({ ...(await make(turn)), token });
