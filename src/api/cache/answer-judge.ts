import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  type AcceptedAnswer,
  CLOSED_GRACE_DAYS,
  compareSyncs,
  judgeContent,
  NewAnswer,
  type Receipt,
  type Rejection,
} from '../../domain/answers.ts';
import { countsOncePerCard } from '../../domain/cards.ts';
import { describeIssues } from '../../domain/validation.ts';
import type { Caches } from '../../platform/caches.ts';
import type { NamedVersion } from '../../storage/questions.ts';
import { type KeyCaller, type UserCaller, userName } from '../caller.ts';
import type { CardIds, CardOwner } from './card-ids.ts';
import type { Catalog, QuestionTerms, TenantCatalog } from './catalog.ts';
import { createSyncMemory } from './sync-memory.ts';

/** Who sends answers: a user, or a server for many. */
type Sender = KeyCaller | UserCaller;

/** A sync of one or more card views, as it came in. */
export interface Sync {
  answers: unknown[];
  clientTime: Date | undefined;
  receivedAt: Date;
}

export interface Judgement {
  /** One result an item, in order. */
  receipts: Receipt[];
  /** What is to be made durable before the receipts are true. */
  accepted: AcceptedAnswer[];
}

export interface AnswerJudge {
  /** Judges every item by itself, from memory alone (contract section 4); at once where the catalog is at hand. */
  judge(caller: Sender, sync: Sync): Judgement | Promise<Judgement>;
  /** To be called when what was accepted is durable: later syncs of these ids are compared with it. */
  remember(accepted: readonly AcceptedAnswer[]): void;
}

const DAY_MS = 86_400_000;

/** Every answer comes here: compiled, the schema takes a third of the time. One that can't be throws at the start. */
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

/** The judge of incoming answers: shape, card, question version, values, and what it saw of the same id before. */
export function createAnswerJudge(catalog: Catalog, cardIds: CardIds, caches: Caches): AnswerJudge {
  const memory = createSyncMemory(caches);

  const judgeItem = (
    item: unknown,
    parsed: ParsedItem,
    accept: (item: ParsedItem) => AcceptedAnswer,
    accepted: AcceptedAnswer[],
  ): Receipt => {
    try {
      const answer = accept(parsed);
      const { id } = item as NewAnswer; // as the item spells it: a client finds its own id again
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

  const judgeAll = (caller: Sender, sync: Sync, items: ParsedItem[], tenant: TenantCatalog): Judgement => {
    const stamp = stampOf(sync);
    const idsOf = cardIdsFor(caller, cardIds);
    const accept = (item: ParsedItem) => acceptItem(item, caller, stamp, tenant, idsOf);
    const accepted: AcceptedAnswer[] = [];
    const receipts = sync.answers.map((item, index) => judgeItem(item, items[index] as ParsedItem, accept, accepted));
    return { receipts, accepted };
  };

  return {
    judge(caller, sync) {
      const items = sync.answers.map(parseItem);
      const held = catalog.held(caller.tenantId);
      if (held && knowsAll(held, items)) return judgeAll(caller, sync, items, held);
      return catalog
        .including(caller.tenantId, namedVersions(items))
        .then(tenant => judgeAll(caller, sync, items, tenant));
    },

    remember(accepted) {
      for (const answer of accepted) memory.keep(answer);
    },
  };
}

/** The receipt of a refused item, with its id and revision as far as it names them. */
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

/** An item by its shape. Zod drops a record's field `__proto__` in silence; no unknown field is dropped here. */
function parseItem(item: unknown): ParsedItem {
  const sent = Object(item) as Record<string, unknown>;
  const hiding = ['values', 'metadata'].find(field => Object.hasOwn(Object(sent[field]), '__proto__'));
  if (hiding) return new Rejected('validation-failed', 'this field is not known here', `/${hiding}/__proto__`);
  const parsed = CompiledAnswer.safeParse(item);
  if (parsed.success) return parsed.data;
  const [issue] = describeIssues(parsed.error);
  return new Rejected('validation-failed', issue?.detail ?? 'is not an answer', issue?.pointer);
}

/** Whether a catalog has all that judging the items takes. */
const knowsAll = (tenant: TenantCatalog, items: ParsedItem[]): boolean =>
  items.every(item => item instanceof Rejected || isKnown(tenant, item));

/** Whether the version that an item names is in memory, or its question takes no more answers. */
function isKnown(tenant: TenantCatalog, { question_id, question_version }: NewAnswer): boolean {
  const question = tenant.questions.get(question_id);
  if (!question || question_version > question.version) return false;
  return question.rules === undefined || tenant.rulesOf(question_id, question_version) !== undefined;
}

const namedVersions = (items: ParsedItem[]): NamedVersion[] =>
  items.flatMap(item =>
    item instanceof Rejected ? [] : [{ questionId: item.question_id, version: item.question_version }],
  );

/** What the service notes of a sync in each of its answers. */
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
  tenant: TenantCatalog,
  cardIds: CardIds,
): AcceptedAnswer {
  if (item instanceof Rejected) throw item;
  const answer = item;
  if (tenant.isDeleted(answer.id))
    throw new Rejected('answer-deleted', 'The answer was deleted. Its id cannot be used again.', '/id');
  const owner = ownerOf(answer, caller);
  const cardId = checkCard(answer, caller, owner, cardIds);
  const terms = checkQuestion(answer, tenant, stamp.receivedAt);
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
    key_id: caller.keyId,
    ...(caller.keyOverlapUntil === undefined ? {} : { key_overlap_until: caller.keyOverlapUntil }),
  };
  if (caller.kind !== 'api-key' && countsOncePerCard(terms)) accepted.once_per_card = true;
  accepted.content_hash = contentHash(accepted);
  return accepted;
}

function ownerOf(answer: NewAnswer, caller: Sender): CardOwner {
  if (caller.kind !== 'api-key') {
    if (answer.identity !== undefined)
      throw new Rejected(
        'validation-failed',
        'must be omitted with an access token, which identifies the user',
        '/identity',
      );
    return caller;
  }
  if (answer.identity === undefined)
    throw new Rejected('validation-failed', 'is required with an API key', '/identity');
  const owner = { tenantId: caller.tenantId, identity: answer.identity, verified: true };
  return { ...owner, user: userName(owner) };
}

/** The ids of whoever a sender may name; of a user, who is one and the same for all items, they are looked up once. */
function cardIdsFor(caller: Sender, cardIds: CardIds): CardIds {
  if (caller.kind === 'api-key') return cardIds;
  const own = cardIds(caller);
  return () => own;
}

function checkCard(answer: NewAnswer, caller: Sender, owner: CardOwner, cardIds: CardIds): string {
  const expected = cardIds(owner)(answer.question_id);
  if (answer.card_id === undefined && caller.kind !== 'api-key')
    throw new Rejected('validation-failed', 'is required with an access token', '/card_id');
  if (answer.card_id !== undefined && answer.card_id !== expected)
    throw new Rejected('unknown-card', 'The card was not issued to this user for this question.', '/card_id');
  return expected;
}

/** The question of an answer; throws when it does not take the answer. */
function checkQuestion(answer: NewAnswer, tenant: TenantCatalog, receivedAt: Date): QuestionTerms {
  const question = tenant.questions.get(answer.question_id);
  if (!question) throw new Rejected('unknown-card', 'The question does not exist or is not published.', '/question_id');
  const rules = tenant.rulesOf(answer.question_id, answer.question_version);
  if (answer.question_version > question.version || (question.rules && !rules))
    throw new Rejected('unknown-card', 'The question does not have this version.', '/question_version');
  const takenUntil = question.closedAt
    ? question.closedAt.getTime() + CLOSED_GRACE_DAYS * DAY_MS
    : Number.POSITIVE_INFINITY;
  if (receivedAt.getTime() > takenUntil || !rules)
    throw new Rejected(
      'question-closed',
      `The question closed more than ${CLOSED_GRACE_DAYS} days ago.`,
      '/question_id',
    );
  const fault = judgeContent(rules, answer);
  if (fault) throw new Rejected('invalid-value', fault.detail, fault.pointer);
  return question;
}

/** The fields of a record in the order of their names, by code units: 27 at most, of which a sort would make more garbage than they are. */
function inOrder(record: Record<string, unknown>): [string, unknown][] {
  const fields = Object.entries(record);
  for (const [index, field] of fields.entries()) {
    let place = index;
    for (; place > 0 && (fields[place - 1] as [string, unknown])[0] > field[0]; place--)
      fields[place] = fields[place - 1] as [string, unknown];
    fields[place] = field;
  }
  return fields;
}

/** A digest of everything that the client said, by which two syncs of one revision are the same or not. */
function contentHash(answer: AcceptedAnswer): string {
  const { state, question_version, values, comment, displayed_at, answered_at, duration_ms, metadata } = answer;
  const said = [
    state,
    question_version,
    inOrder(values).map(([step, value]) => [
      step,
      value !== null && typeof value === 'object' ? inOrder(value as never) : value,
    ]),
    comment,
    displayed_at,
    answered_at,
    duration_ms,
    inOrder(metadata),
  ];
  return hash('sha256', JSON.stringify(said), 'base64url').slice(0, 22);
}
