/** The parts of a document that the tests of the comparison change. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, { headers: Record<string, unknown> }>;
  };
}
interface Operation {
  parameters: ({ name: string; in: string; schema: Schema } | { $ref: string })[];
  responses: Record<string, unknown>;
  security: unknown[];
}
interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: string[];
  oneOf?: unknown[];
  'x-extensible-enum'?: string[];
}

const schema = ({ components }: Document, name: string): Schema => components.schemas[name] as Schema;
const member = (document: Document, name: string, of: string): Schema =>
  schema(document, name).properties?.[of] as Schema;
const operation = ({ paths }: Document, method: string, path: string): Operation => paths[path]?.[method] as Operation;
const list = (document: Document): Operation => operation(document, 'get', '/v1/questions');

/** A change of every kind that a caller would notice, and a part of the report about it. */
export const BREAKS: [name: string, change: (document: Document) => unknown, reported: RegExp][] = [
  ['removes an operation', ({ paths }) => delete paths['/v1/me']?.get, /api-removed-without-deprecation/],
  ['renames an operation', document => Object.assign(list(document), { operationId: 'getQuestions' }), /operation-id/],
  ['moves an operation to another tag', document => Object.assign(list(document), { tags: ['Cards'] }), /api-tag/],
  [
    'removes a member of a reply',
    document => delete schema(document, 'Question').properties?.title,
    /property-removed/,
  ],
  ['removes an optional member', d => delete schema(d, 'QuestionListItem').properties?.results, /property-removed/],
  ['changes the type of a member', d => Object.assign(member(d, 'Question', 'version'), { type: 'string' }), /type/],
  [
    'makes a member nullable',
    d => Object.assign(member(d, 'Question', 'title'), { type: ['string', 'null'] }),
    /nullable/,
  ],
  ['removes a known value', d => member(d, 'Question', 'status')['x-extensible-enum']?.shift(), /known value removed/],
  [
    'requires a member',
    d => Object.assign(schema(d, 'ConversationInput'), { required: ['subject'] }),
    /became-required/,
  ],
  ['lowers a limit', d => Object.assign(member(d, 'ConversationInput', 'message'), { maxLength: 10 }), /max-length/],
  ['refuses a value', d => member(d, 'AnswerInput', 'state').enum?.shift(), /enum-value-removed/],
  ['refuses a type of question', d => schema(d, 'QuestionInput').oneOf?.shift(), /one-of-removed/],
  [
    'removes a response header',
    d => delete d.components.responses.RateLimited?.headers['Retry-After'],
    /header-removed/,
  ],
  [
    'removes a request header',
    d => operation(d, 'patch', '/v1/questions/{id}').parameters.splice(1),
    /parameter-removed/,
  ],
  ['removes a status', document => delete list(document).responses[200], /success-status-removed/],
  ['removes a kind of credential', document => list(document).security.pop(), /api-security-removed/],
  [
    'requires a parameter',
    document =>
      list(document).parameters.push({ name: 'new', in: 'query', required: true, schema: { type: 'string' } } as never),
    /new-required-request-parameter/,
  ],
];
