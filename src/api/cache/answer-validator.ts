import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  type AcceptedAnswer,
  CLOSED_GRACE_DAYS,
  compareSyncs,
  NewAnswer,
  storedState,
  validateContent,
} from '../../domain/answers/answers.ts';
import type { Receipt, Rejection } from '../../domain/answers/receipts.ts';
import { countingOf } from '../../domain/cards/cards.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { answerRules } from '../../domain/questions/questions.ts';
import type { QuestionType } from '../../domain/questions/types/index.ts';
import { jsonPointer, parseItem } from '../../domain/validation.ts';
import type { Caches } from '../../platform/caches.ts';
import type { LiveQuestionRow, NamedVersion } from '../../storage/questions/questions.ts';
import { type KeyCaller, type TestCaller, type UserCaller, userName } from '../caller.ts';
import type { CardIds, CardOwner } from './card-ids.ts';
import type { Catalog, QuestionTerms, TenantCatalog } from './catalog.ts';
import { createSyncMemory } from './sync-memory.ts';

/** The sender of answers: a user, or a server on behalf of users. */
type Sender = KeyCaller | UserCaller | TestCaller;

/** The part of a catalog against which answers are validated. */
type KnownQuestions = Pick<TenantCatalog, 'questions' | 'rulesOf' | 'isDeleted'>;

/** A received sync of one or more card views. */
export interface Sync {
  answers: unknown[];
  clientTime: Date | undefined;
  receivedAt: Date;
}

export interface SyncResult {
  /** One result per item, in order. */
  receipts: Receipt[];
  /** Answers that must be durable before the receipts are sent. */
  accepted: AcceptedAnswer[];
}

export interface AnswerValidator {
  /** Validates each item separately (contract section 4). Reads the catalog if it is not in memory. */
  validate(caller: Sender, sync: Sync): Promise<SyncResult>;
  /** Validates answers of a member who tries out a question, against its present form. */
  validateTest(caller: TestCaller, sync: Sync, question: LiveQuestionRow | undefined): SyncResult;
  /** Call when accepted answers are durable: later syncs of these ids are compared with them. */
  remember(accepted: readonly AcceptedAnswer[]): void;
}

/**
 * Every answer is parsed here. Compiling the schema saves two thirds of the time. Throws at startup if it cannot be
 * compiled.
 */
const CompiledAnswer = z.compile(NewAnswer, { strict: true });

class Rejected extends Error {
  readonly code: Rejection;
  readonly pointer: string | undefined;

  constructor(code: Rejection, detail: string, pointer?: string) {
    super(detail);
    this.code = code;
    this.pointer = pointer;
  }
}

/**
 * Creates the validator of incoming answers: shape, card, question version, values, and earlier syncs of the same id.
 */
export function createAnswerValidator(catalog: Catalog, cardIds: CardIds, caches: Caches): AnswerValidator {
  const memory = createSyncMemory(caches);

  const validateItem = (
    item: unknown,
    parsed: ParsedItem,
    accept: (item: ParsedItem) => AcceptedAnswer,
    accepted: AcceptedAnswer[],
  ): Receipt => {
    try {
      const answer = accept(parsed);
      const { id } = item as NewAnswer; // as the item spells it, so that clients recognise their own id
      const before = accepted.findLast(other => other.id === answer.id);
      const comparison = before ? compareSyncs(before, answer) : memory.compare(answer);
      if (comparison === 'revision-conflict')
        throw new Rejected(
          comparison,
          'The id is used by another answer, or this revision was sent with different content.',
        );
      if (comparison !== 'newer') return { id, revision: answer.revision, status: comparison };
      accepted.push(answer);
      return { id, revision: answer.revision, status: 'accepted' };
    } catch (error) {
      if (error instanceof Rejected) return rejection(item, error);
      throw error;
    }
  };

  const validateAll = (caller: Sender, sync: Sync, items: ParsedItem[], tenant: KnownQuestions): SyncResult => {
    const stamp = stampOf(sync);
    const idsOf = cardIdsFor(caller, cardIds);
    const accept = (item: ParsedItem) => acceptItem(item, caller, stamp, tenant, idsOf);
    const accepted: AcceptedAnswer[] = [];
    const receipts = sync.answers.map((item, index) =>
      validateItem(item, items[index] as ParsedItem, accept, accepted),
    );
    return { receipts, accepted };
  };

  return {
    async validate(caller, sync) {
      const items = sync.answers.map(parseAnswer);
      const known = catalog.cached(caller.tenantId);
      const isComplete = known !== undefined && hasAllRules(known, items);
      const tenant = isComplete ? known : await catalog.including(caller.tenantId, namedVersions(items));
      return validateAll(caller, sync, items, tenant);
    },

    validateTest: (caller, sync, question) =>
      validateAll(caller, sync, sync.answers.map(parseAnswer), catalogOf(question)),

    remember(accepted) {
      for (const answer of accepted) memory.keep(answer);
    },
  };
}

/** The receipt of a rejected item, with its id and revision if present. */
function rejection(item: unknown, { code, message, pointer }: Rejected): Receipt {
  const { id, revision } = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>;
  return {
    id: typeof id === 'string' ? id.slice(0, 64).toWellFormed() : null,
    revision: Number.isSafeInteger(revision) ? (revision as number) : null,
    status: 'rejected',
    code,
    detail: message,
    ...(pointer === undefined ? {} : { pointer }),
  };
}

type ParsedItem = NewAnswer | Rejected;

function parseAnswer(item: unknown): ParsedItem {
  const parsed = parseItem(CompiledAnswer, item);
  if (parsed.success) return parsed.data;
  const [fault] = parsed.faults;
  return new Rejected('validation-failed', fault?.detail ?? 'Must be an answer.', jsonPointer(fault?.path ?? []));
}

/** Whether a catalog has everything needed to validate the items. */
const hasAllRules = (tenant: TenantCatalog, items: ParsedItem[]): boolean =>
  items.every(item => item instanceof Rejected || hasRules(tenant, item));

/** Whether the named version is in memory, or its question is closed to answers. */
function hasRules(tenant: TenantCatalog, { question_id, question_version }: NewAnswer): boolean {
  const question = tenant.questions.get(question_id);
  if (!question || question_version > question.version) return false;
  return question.rules === undefined || tenant.rulesOf(question_id, question_version) !== undefined;
}

const namedVersions = (items: ParsedItem[]): NamedVersion[] =>
  items.flatMap(item =>
    item instanceof Rejected ? [] : [{ questionId: item.question_id, version: item.question_version }],
  );

/** The fields that the service adds to each answer of a sync. */
interface Stamp extends Pick<AcceptedAnswer, 'received_at' | 'clock_skew_ms'> {
  receivedAt: Date;
}

const stampOf = ({ receivedAt, clientTime }: Sync): Stamp => ({
  receivedAt,
  received_at: receivedAt.toISOString(),
  clock_skew_ms: clientTime ? clientTime.getTime() - receivedAt.getTime() : null,
});

function acceptItem(
  item: ParsedItem,
  caller: Sender,
  stamp: Stamp,
  tenant: KnownQuestions,
  cardIds: CardIds,
): AcceptedAnswer {
  if (item instanceof Rejected) throw item;
  const answer = item;
  if (tenant.isDeleted(answer.id))
    throw new Rejected('answer-deleted', 'The answer was deleted. Its id cannot be used again.', '/id');
  const owner = ownerOf(answer, caller);
  const cardId = checkCard(answer, caller, owner, cardIds);
  const { terms, type } = checkQuestion(answer, tenant, stamp.receivedAt);
  const accepted: AcceptedAnswer = {
    tenant_id: caller.tenantId,
    id: answer.id,
    identity: owner.identity,
    identity_verified: owner.verified,
    card_id: cardId,
    question_id: answer.question_id,
    question_version: answer.question_version,
    revision: answer.revision,
    state: answer.state,
    values: answer.values,
    comment: answer.comment ?? null,
    displayed_at: answer.displayed_at?.toISOString() ?? null,
    answered_at: answer.answered_at?.toISOString() ?? null,
    duration_ms: answer.duration_ms ?? null,
    metadata: answer.metadata,
    content_hash: '',
    clock_skew_ms: stamp.clock_skew_ms,
    received_at: stamp.received_at,
    ...keyOf(caller),
  };
  if (caller.kind !== 'api-key') Object.assign(accepted, countingOf(terms));
  else if (answer.card_id === undefined) accepted.without_card = true;
  accepted.content_hash = contentHash(accepted);
  accepted.state = storedState(answer, type);
  return accepted;
}

/** The key of a sender, which the worker checks again; absent with a test token, which Parley signs. */
function keyOf(caller: Sender): Pick<AcceptedAnswer, 'key_id' | 'key_overlap_until'> {
  if (caller.kind === 'test-token') return {};
  const { keyId, keyOverlapUntil } = caller;
  return { key_id: keyId, ...(keyOverlapUntil === undefined ? {} : { key_overlap_until: keyOverlapUntil }) };
}

/** The catalog of a member who tries out a question: only its present form, which need not be published. */
function catalogOf(question: LiveQuestionRow | undefined): KnownQuestions {
  const rules = question && answerRules(question);
  const terms = question && {
    version: question.version,
    repeat: 'always' as const,
    everyDays: null,
    closedAt: null,
    rules,
  };
  return {
    questions: new Map(question && terms ? [[question.id, terms]] : []),
    rulesOf: (id, version) => (id === question?.id && version === question.version ? rules : undefined),
    isDeleted: () => false,
  };
}

function ownerOf(answer: NewAnswer, caller: Sender): CardOwner {
  if (caller.kind !== 'api-key') {
    if (answer.identity !== undefined)
      throw new Rejected(
        'validation-failed',
        'Must be omitted with an access token, which identifies the user.',
        '/identity',
      );
    return caller;
  }
  if (answer.identity === undefined)
    throw new Rejected(
      'validation-failed',
      'Required with an API key: the id of the user, such as "user|42".',
      '/identity',
    );
  const owner = { tenantId: caller.tenantId, identity: answer.identity, verified: true };
  return { ...owner, user: userName(owner) };
}

/**
 * Returns the card ids of a sender's users. For a user, they are looked up once, since all items have the same owner.
 */
function cardIdsFor(caller: Sender, cardIds: CardIds): CardIds {
  if (caller.kind === 'api-key') return cardIds;
  const own = cardIds(caller);
  return () => own;
}

function checkCard(answer: NewAnswer, caller: Sender, owner: CardOwner, cardIds: CardIds): string {
  const expected = cardIds(owner)(answer.question_id);
  if (answer.card_id === undefined && caller.kind !== 'api-key')
    throw new Rejected(
      'validation-failed',
      'Required with an access token: the id of the card from GET /v1/cards.',
      '/card_id',
    );
  if (answer.card_id !== undefined && answer.card_id !== expected)
    throw new Rejected('unknown-card', 'The card was not issued to this user for this question.', '/card_id');
  return expected;
}

/** Returns the question of an answer, and its type. Throws when it does not accept the answer. */
function checkQuestion(
  answer: NewAnswer,
  tenant: KnownQuestions,
  receivedAt: Date,
): { terms: QuestionTerms; type: QuestionType } {
  const question = tenant.questions.get(answer.question_id);
  if (!question) throw new Rejected('unknown-card', 'The question does not exist or is not published.', '/question_id');
  const rules = tenant.rulesOf(answer.question_id, answer.question_version);
  if (answer.question_version > question.version || (question.rules && !rules))
    throw new Rejected(
      'unknown-version',
      `The question does not have this version. Its current version is ${question.version}.`,
      '/question_version',
    );
  const acceptedUntil = question.closedAt
    ? question.closedAt.getTime() + CLOSED_GRACE_DAYS * DAY_MS
    : Number.POSITIVE_INFINITY;
  if (receivedAt.getTime() > acceptedUntil || !rules)
    throw new Rejected(
      'question-closed',
      `The question closed more than ${CLOSED_GRACE_DAYS} days ago.`,
      '/question_id',
    );
  const fault = validateContent(rules, answer);
  if (fault) throw new Rejected('invalid-value', fault.detail, fault.pointer);
  return { terms: question, type: rules[0].type };
}

/** A record's fields sorted by name, by code units. */
const sortedEntries = (record: Record<string, unknown>): [string, unknown][] =>
  Object.keys(record)
    .sort()
    .map(name => [name, record[name]]);

/** A digest of all client-provided content, used to compare two syncs of one revision. */
function contentHash(answer: AcceptedAnswer): string {
  const { state, question_version, values, comment, displayed_at, answered_at, duration_ms, metadata } = answer;
  const content = [
    state,
    question_version,
    sortedEntries(values).map(([step, value]) => [
      step,
      value !== null && typeof value === 'object' ? sortedEntries(value as never) : value,
    ]),
    comment,
    displayed_at,
    answered_at,
    duration_ms,
    sortedEntries(metadata),
  ];
  return hash('sha256', JSON.stringify(content), 'base64url').slice(0, 22);
}
