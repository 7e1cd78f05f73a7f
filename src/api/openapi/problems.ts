import type { ZodOpenApiExampleObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { FIELD_CODES } from '../../domain/field-errors.ts';
import { PROBLEMS, type ProblemCode } from '../../domain/problem-catalog.ts';
import type { ProblemEntry } from '../../domain/problem-kinds.ts';
import { STATUS_OF } from '../http/problem.ts';
import type { Operation } from '../operation.ts';
import { headerRefs, PROBLEM_HEADERS } from './headers.ts';

const text = (description: string, more: Record<string, unknown> = {}) => ({ type: 'string', description, ...more });
const list = (description: string) => ({ type: 'array', description, items: { type: 'string' } });

/** The field codes with their meanings, as Markdown. */
const describeFieldCodes = (): string =>
  Object.entries(FIELD_CODES)
    .map(([code, { meaning, example }]) => `- \`${code}\`: ${meaning} Valid: ${example}`)
    .join('\n');

/** One of several faults of a request. */
const FIELD_ERROR = {
  type: 'object',
  description: 'Has either `pointer` or `parameter`',
  required: ['code', 'detail'],
  properties: {
    pointer: text('JSON Pointer (RFC 6901) to the value in the body; the empty string is the whole body', {
      example: '/title',
    }),
    parameter: text('Name of the query parameter or header'),
    code: text(describeFieldCodes(), { 'x-extensible-enum': Object.keys(FIELD_CODES), example: 'unknown-field' }),
    detail: text('The rule as a sentence', { example: 'Must be 1 to 300 characters.' }),
  },
};

/** A color with too little contrast. */
const CONTRAST_FAULT = {
  type: 'object',
  required: ['field', 'ratio', 'required', 'nearest'],
  properties: {
    field: text('`text` or `accent`', { 'x-extensible-enum': ['text', 'accent'] }),
    ratio: { type: 'number', description: 'Contrast with the background of the card, from 1 to 21' },
    required: { type: 'number', description: 'Minimum contrast' },
    nearest: text('Nearest color that passes', { example: '#857200' }),
  },
};

const PROBLEM = {
  type: 'object',
  description: 'An error (RFC 9457). React to `code`; `title` and `detail` are for people and may change',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  properties: {
    type: text('Address of the page about this code', { format: 'uri' }),
    title: text('What the code means'),
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status' },
    detail: text('What is wrong with this request'),
    instance: text('Path of the request'),
    code: text('Stable identifier of the problem', { 'x-extensible-enum': Object.keys(PROBLEMS) }),
    request_id: text('As in the `X-Request-Id` header'),
    errors: {
      type: 'array',
      description: 'The faults of the request, at most 50; mostly with `validation-failed`',
      items: { $ref: '#/components/schemas/FieldError' },
    },
    from: text('Only with `invalid-transition`: the current state'),
    allowed: list('Only with `invalid-transition`: the states that can follow'),
    oldest_version: text('Only with `upgrade-unfinished`: the oldest version of a running API process'),
    contrasts: {
      type: 'array',
      description: 'Only with `low-contrast` in `errors`: the colors that are hard to read, and by how much',
      items: { $ref: '#/components/schemas/ContrastFault' },
    },
    now: {
      type: 'object',
      description: 'Only with `conversation-changed`: the present values of the fields in `was` that have changed',
    },
    missed: {
      type: 'array',
      description: 'Only with `conversation-moved`: the newest messages after `after`, at most 50',
      items: { $ref: '#/components/schemas/Message' },
    },
    oldest: {
      type: 'integer',
      format: 'int64',
      description: 'Only with `events-expired`: the first event that is kept',
    },
    etag: text('Only with `precondition-failed`: the entity tag of the current version'),
    narrow: list('Only with `query-too-expensive`: filters that the request did not use'),
  },
};

/** The components of problems. */
export const problemSchemas = { Problem: PROBLEM, FieldError: FIELD_ERROR, ContrastFault: CONTRAST_FAULT } as const;

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

const exampleName = (code: ProblemCode): string => `problem.${code}`;

const exampleOf = (code: ProblemCode) => {
  const { title, kind, example }: ProblemEntry = PROBLEMS[code];
  const { detail, instance = '/v1/questions', ...more } = example;
  return {
    type: `https://parley.example.com/problems/${code}`,
    title,
    status: STATUS_OF[kind],
    detail,
    instance,
    code,
    request_id: '4f0c1c52-3a0e-4d6e-9a51-6e3c9e4a7c11',
    ...more,
  };
};

/** An example of each problem, by the name of its component. */
export const problemExamples = (): Record<string, ZodOpenApiExampleObject> =>
  Object.fromEntries(CODES.map(code => [exampleName(code), { summary: PROBLEMS[code].title, value: exampleOf(code) }]));

/**
 * The one response for the problems of all operations. A response per status and operation made half of the document, and
 * generated clients treat every problem alike.
 */
export const problemResponses = (): Record<'Failure', ZodOpenApiResponseObject> => ({
  Failure: {
    description: 'A problem. The status is that of its `code`',
    headers: headerRefs(PROBLEM_HEADERS),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(CODES.map(code => [code, { $ref: `#/components/examples/${exampleName(code)}` }])),
      } as never,
    },
  },
});

/** The replies of an operation to requests that fail. */
export const FAILURES: ZodOpenApiResponsesObject = { default: { $ref: '#/components/responses/Failure' } };

/** Problems that are described for all operations together. */
const GENERAL: ProblemCode[] = ['rate-limit-exceeded', 'database-unavailable', 'cross-site-request'];

/** Lists the problems that an operation has for reasons of its own. */
export function describeProblems({ problems = [], ifMatch }: Operation): string {
  const own = [...problems, ...(ifMatch ? (['precondition-failed'] as const) : [])];
  const listed = own
    .filter(code => !GENERAL.includes(code))
    .map(code => `\`${code}\` (${STATUS_OF[PROBLEMS[code].kind]})`);
  return listed.length > 0 ? `Problems: ${listed.join(', ')}.` : '';
}
