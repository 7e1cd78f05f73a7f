import { ACCESS_PROBLEMS } from './access-problems.ts';
import type { ProblemEntry } from './problem-kinds.ts';

/**
 * Every problem that Parley reports, by its public code (the slug of its `type`, RFC 9457). Codes are never renamed.
 *
 * `meaning` is the text of `/problems/{code}`: the cause, and the remedy. `example` is in the OpenAPI document.
 */
export const PROBLEMS = {
  'malformed-request': {
    kind: 'malformed',
    title: 'The HTTP request is malformed',
    meaning:
      'The HTTP message itself is invalid: a duplicate header, a truncated body, or percent-encoding that is not UTF-8. Fix the client.',
    example: { detail: 'The Authorization header was sent more than once.' },
  },
  'malformed-json': {
    kind: 'malformed',
    title: 'The body is not valid JSON',
    meaning:
      'The body must be one JSON object in UTF-8, nested at most 20 levels deep, of at most 10,000 members, without two members of the same name in an object.',
    example: { detail: 'The body is not valid JSON in UTF-8.' },
  },
  'unknown-parameter': {
    kind: 'malformed',
    title: 'Unknown query parameter',
    meaning:
      'Unknown parameters are rejected so that a misspelled filter never returns unfiltered results. `errors[].parameter` is its name.',
    example: {
      detail: 'The query has an unknown parameter.',
      errors: [{ parameter: 'limt', code: 'unknown-parameter', detail: 'Must be one of limit, cursor, status.' }],
    },
  },
  'repeated-parameter': {
    kind: 'malformed',
    title: 'Repeated query parameter',
    meaning: 'Each parameter may appear only once. `errors[].parameter` is its name.',
    example: {
      detail: 'A query parameter is repeated.',
      errors: [{ parameter: 'limit', code: 'repeated-parameter', detail: 'Must appear only once.' }],
    },
  },
  'invalid-cursor': {
    kind: 'malformed',
    title: 'Invalid cursor',
    meaning:
      'A cursor is valid only for the list, tenant, caller and filters it was issued for. Start again without a cursor.',
    example: { detail: 'The cursor was not issued for this list with these filters.' },
  },
  'tenant-missing': {
    kind: 'malformed',
    title: 'Missing tenant',
    meaning:
      'Requests with a session must send the `Tenant-Id` header, because a person can belong to several tenants.',
    example: { detail: 'Requests with a session require the Tenant-Id header.' },
  },
  ...ACCESS_PROBLEMS,
  'resource-not-found': {
    kind: 'not-found',
    title: 'Not found',
    meaning:
      'The path or the id is wrong, or the object belongs to another tenant or user. Paths must match exactly, including case and slashes.',
    example: { detail: 'The question was not found.', instance: '/v1/questions/question_01jdpnx3r0e008000000000001' },
  },
  'link-not-valid': {
    kind: 'not-found',
    title: 'The link is not valid',
    meaning: 'The link is unknown, expired or already used. Request a new one.',
    example: { detail: 'The link is unknown, expired or already used.', instance: '/v1/setup' },
  },
  'method-not-allowed': {
    kind: 'method-not-allowed',
    title: 'Method not allowed',
    meaning: 'The path does not support this method. The `Allow` header lists the supported ones.',
    example: { detail: 'This path supports GET, POST.' },
  },
  'method-unknown': {
    kind: 'not-implemented',
    title: 'Unknown method',
    meaning: 'Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.',
    example: { detail: 'The HTTP method is unknown.' },
  },
  'invalid-transition': {
    kind: 'conflict',
    title: 'Invalid state transition',
    meaning: '`from` is the current state, `allowed` lists the states that can follow it.',
    example: {
      detail: 'The question is closed and cannot be live.',
      instance: '/v1/questions/question_01jdpnx3r0e008000000000001/resume',
      from: 'closed',
      allowed: ['archived'],
    },
  },
  'upgrade-unfinished': {
    kind: 'conflict',
    title: 'An older API process is still running',
    meaning:
      'It would refuse answers to the question. `oldest_version` is its version. Finish the update, then wait a minute.',
    example: {
      detail:
        'Follow-ups need all API processes to run this version; one of version 0.1.0 was seen in the last minute. Finish the update and try again.',
      instance: '/v1/questions/question_01jdpnx3r0e008000000000001/publish',
      oldest_version: '0.1.0',
    },
  },
  'immutable-field': {
    kind: 'conflict',
    title: 'A field of a published question cannot change',
    meaning:
      'Type, scale and option ids are fixed once published, so that answers keep their meaning. Clone the question instead.',
    example: {
      detail: 'Type, scale and option ids of a published question cannot change.',
      instance: '/v1/questions/question_01jdpnx3r0e008000000000001',
      errors: [{ pointer: '/config/scale', code: 'immutable-field', detail: 'Cannot change once published.' }],
    },
  },
  'limit-reached': {
    kind: 'conflict',
    title: 'Limit reached',
    meaning: '`detail` names the limit. Close or delete objects that you no longer need.',
    example: { detail: 'A tenant can have at most 2,000 questions.' },
  },
  'last-owner': {
    kind: 'conflict',
    title: 'A tenant needs an owner',
    meaning: 'Make another member an owner first.',
    example: {
      detail: 'The member is the only owner of the tenant.',
      instance: '/v1/members/member_01jdpnx3r0e008000000000001',
    },
  },
  'member-exists': {
    kind: 'conflict',
    title: 'Already a member',
    meaning: 'The e-mail address belongs to a member of the team or to an existing account.',
    example: { detail: 'The person is already a member of the tenant.', instance: '/v1/members' },
  },
  'totp-active': {
    kind: 'conflict',
    title: 'An authenticator is already active',
    meaning: 'Remove it before you enrol another one.',
    example: { detail: 'An authenticator is already active.', instance: '/v1/me/totp' },
  },
  'totp-inactive': {
    kind: 'conflict',
    title: 'No authenticator is enrolled',
    meaning: 'Enrol one first. The response contains the secret for the authenticator app.',
    example: { detail: 'No authenticator is enrolled.', instance: '/v1/me/totp/confirm' },
  },
  'idempotency-key-in-use': {
    kind: 'conflict',
    title: 'A request with this Idempotency-Key is in progress',
    meaning: 'Wait until it has finished, then repeat the request to get its response.',
    example: { detail: 'The first request with this Idempotency-Key is still in progress.' },
  },
  'message-not-editable': {
    kind: 'conflict',
    title: 'The message can no longer be changed',
    meaning: 'Its author can edit a message for 15 minutes, unless it was redacted.',
    example: {
      detail: 'The message was written more than 15 minutes ago.',
      instance: '/v1/conversations/conversation_01jdpnx3r0e008000000000001/messages/message_01jdpnx3r0e008000000000001',
    },
  },
  'message-conflict': {
    kind: 'conflict',
    title: 'The client_message_id was used for another text',
    meaning:
      'A `client_message_id` identifies one message: a retry must repeat its text. Generate a new id for each new message.',
    example: {
      detail: 'The client_message_id was used for a message with another text.',
      instance: '/v1/conversations',
    },
  },
  'conversation-changed': {
    kind: 'conflict',
    title: 'A field of the conversation has changed meanwhile',
    meaning:
      '`was` contains a value that is no longer present, so the request was not executed. `now` has the present values of these fields. Show them, and repeat the request with the new values in `was` if the change is still wanted.',
    example: {
      detail: 'Changed meanwhile: status.',
      instance: '/v1/conversations/conversation_01jdpnx3r0e008000000000001',
      now: { status: 'resolved' },
    },
  },
  'conversation-moved': {
    kind: 'conflict',
    title: 'Messages were written meanwhile',
    meaning:
      'A reply or a note was written after the messages in `after`, so the text of this request was not stored. `missed` contains them. Show them, and repeat the request with the newest numbers in `after`, or with `force`.',
    example: {
      detail: 'A message was written meanwhile.',
      instance: '/v1/conversations/conversation_01jdpnx3r0e008000000000001/messages',
      missed: [],
    },
  },
  'rotation-running': {
    kind: 'conflict',
    title: 'The previous secret is still valid',
    meaning:
      'An API key or webhook has at most two valid secrets. Wait until the overlap in `detail` has ended, or replace the key or webhook.',
    example: {
      detail: 'The API key was rotated before, and its previous secrets are valid until 2026-11-21T07:00:00.000Z.',
      instance: '/v1/api-keys/key_01jdpnx3r0e008000000000001/rotate',
    },
  },
  'conversation-deleted': {
    kind: 'gone',
    title: 'The conversation was deleted',
    meaning:
      'The request writes to a conversation that was deleted, or repeats a `client_message_id` whose conversation was deleted. Do not send it again. To start a new conversation, generate a new id.',
    example: {
      detail: 'The conversation that was started with this client_message_id was deleted.',
      instance: '/v1/conversations',
    },
  },
  'events-expired': {
    kind: 'gone',
    title: 'The events are no longer kept',
    meaning: '`after` is older than 30 days. Read the objects, and continue before `oldest`, the first one kept.',
    example: {
      detail: 'The events after 12 are no longer kept. The oldest is 4711.',
      instance: '/v1/events',
      oldest: 4711,
    },
  },
  'precondition-failed': {
    kind: 'precondition-failed',
    title: 'The resource is not in the expected version',
    meaning:
      'With `If-Match`, the resource has changed since you read it: read it again, apply your change to the new version, and send its `ETag`. With `If-None-Match: *`, the resource already exists.',
    example: {
      detail: 'If-Match does not match the current version of the resource.',
      instance: '/v1/questions/question_01jdpnx3r0e008000000000001',
      etag: '"EZ9MrUzPRmNPfCQKRfUa1YUnvG0"',
    },
  },
  'body-too-large': {
    kind: 'too-large',
    title: 'The body is too large',
    meaning: 'The limit is 256 KB, or 16 KB with a public access token. Split the batch.',
    example: { detail: 'The body is larger than 256 KB.', instance: '/v1/answers' },
  },
  'headers-too-large': {
    kind: 'headers-too-large',
    title: 'The headers are too large',
    meaning: 'The limit is 16 KB for the request line and all headers together.',
    example: { detail: 'The headers are larger than 16 KB.', instance: '' },
  },
  'request-timed-out': {
    kind: 'timed-out',
    title: 'The request took too long to arrive',
    meaning:
      'Headers must arrive within 15 seconds, the whole request within 30. The request was not processed; send it again.',
    example: { detail: 'The request was not received in time.', instance: '' },
  },
  'unsupported-media-type': {
    kind: 'unsupported-media-type',
    title: 'Unsupported media type',
    meaning: 'Send `Content-Type: application/json` in UTF-8, without `Content-Encoding`.',
    example: { detail: 'Send Content-Type: application/json (in UTF-8).' },
  },
  'validation-failed': {
    kind: 'invalid',
    title: 'The request does not match the schema',
    meaning:
      '`detail` names the first invalid value, and `errors` lists each: by `pointer`, a JSON Pointer (RFC 6901) into the body, or by `parameter`, the name of a query parameter or header. Each has a `code` and a `detail` with the rule.',
    example: {
      detail: 'The body does not match the schema: /colour.',
      errors: [
        {
          pointer: '/colour',
          code: 'unknown-field',
          detail: 'This field is not known here. Remove it or correct its name.',
        },
      ],
    },
  },
  'idempotency-key-reused': {
    kind: 'invalid',
    title: 'The Idempotency-Key was used for another request',
    meaning: 'A key belongs to one request for 24 hours. Generate a new key for each new request.',
    example: { detail: 'The Idempotency-Key was used for another request.' },
  },
  'rate-limit-exceeded': {
    kind: 'rate-limited',
    title: 'Too many requests',
    meaning: 'The request was not processed. Send it again after `Retry-After` seconds.',
    example: { detail: 'More than 1000 requests in 60 s.' },
  },
  'queue-unavailable': {
    kind: 'unavailable',
    title: 'Answers cannot be made durable right now',
    meaning:
      'The answers are not confirmed. Send the request again, with the same answer ids, after `Retry-After` seconds.',
    example: { detail: 'The queue cannot confirm answers right now.', instance: '/v1/answers' },
  },
  'database-unavailable': {
    kind: 'unavailable',
    title: 'The database cannot be reached right now',
    meaning: 'Send the request again after `Retry-After` seconds.',
    example: { detail: 'The database cannot be reached right now.' },
  },
  'query-too-expensive': {
    kind: 'unavailable',
    title: 'The query takes too long',
    meaning:
      'The query was cancelled at its timeout: 5 s for lists and results, 2 s for a search (`q`). Add one of the filters in `narrow`, which lists those that the request did not use. Do not repeat the request unchanged.',
    example: { detail: 'The query took longer than 5 s.', instance: '/v1/answers', narrow: ['question_id', 'state'] },
  },
  'provider-unavailable': {
    kind: 'unavailable',
    title: 'The identity provider cannot be reached right now',
    meaning:
      'The provider could not be reached, or replied with a server error. Log in with a password, or try again later. The server log has the cause.',
    example: { detail: 'The identity provider cannot be reached.', instance: '/v1/oidc/login' },
  },
  'service-overloaded': {
    kind: 'unavailable',
    title: 'The server is overloaded',
    meaning: 'The request was not processed. Send it again after `Retry-After` seconds.',
    example: { detail: 'The server is overloaded.' },
  },
  'service-stopping': {
    kind: 'unavailable',
    title: 'The server is shutting down',
    meaning: 'Send the request again; another process will handle it.',
    example: { detail: 'The server is shutting down.', instance: '/v1/answers' },
  },
  'internal-error': {
    kind: 'internal',
    title: 'Unexpected server error',
    meaning: 'This is a bug in Parley. Report the `request_id`; the server log has the cause under that id.',
    example: { detail: 'Unexpected server error. Report the `request_id`.' },
  },
} as const satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof PROBLEMS;
