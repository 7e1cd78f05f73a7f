import { DAY_MS } from '../durations.ts';
import type { Attributes } from '../people/identities.ts';
import type { QuestionStatus } from '../questions/questions.ts';
import { type CardRules, completeFrequency, type Frequency } from '../rules/card-rules.ts';
import { parseVersion } from '../rules/semver.ts';
import type { CardRecord } from './cards.ts';
import {
  type AudienceCompiler,
  type AudienceFacts,
  audienceChange,
  type CompiledAudience,
  compileAudience,
  createAudienceCompiler,
} from './compiled-audiences.ts';

/** The conditions of a card, in the order in which they are evaluated: cheapest first. */
export const GATES = [
  'status',
  'schedule',
  'public',
  'frequency',
  'sampling',
  'limit',
  'audience',
  'cooldown',
] as const;
export type Gate = (typeof GATES)[number];

/** The response limit of a question that is reached, until the period ends; null: for ever. */
export interface ReachedLimit {
  until: number | null;
}

/** The rule of one question, compiled once for many decisions. */
export interface Rule {
  id: string;
  status: QuestionStatus;
  allow_public: boolean;
  /** In milliseconds since 1970. */
  startAt: number | null;
  endAt: number | null;
  frequency: Frequency;
  hasTrigger: boolean;
  /** The number of hashes, of 10,000, that are asked. */
  sampled: number;
  seed: number;
  /** Whether the question has as many completed answers as its `response_limit` allows; null: it does not. */
  limitReached: ReachedLimit | null;
  audience: CompiledAudience | null;
}

/** A person with everything that decides on their cards. */
export interface Person extends AudienceFacts {
  hash: number;
}

/** The facts about a person: from their credential, the request or the profile, and their history. */
export interface PersonFacts {
  identity: string;
  verified: boolean;
  /** Of the profile. They decide only on a verified identity. */
  attributes: Attributes;
  platform: string | null | undefined;
  app_version: string | null | undefined;
  locale: string | null | undefined;
  records: readonly CardRecord[];
}

/** The cooldown of a tenant. */
export interface CooldownTerms {
  days: number;
  /** Ids of questions that start no cooldown. */
  ignoring: ReadonlySet<string>;
}

/** The verdict of a gate. */
export interface GateVerdict {
  gate: Gate;
  passed: boolean;
  /** The next time at which the verdict changes without an event, in milliseconds since 1970; null: never. */
  changesAt: number | null;
}

/** People are sampled in steps of 0.01 percent. */
const SAMPLE_SIZE = 10_000;

/** Returns a 32-bit hash of a text (FNV-1a over its UTF-16 units). */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

/** Distributes the bits of a hash over all 32 (the finalizer of MurmurHash3). */
function mix(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}

/** Whether a person belongs to the sample of a question. The same people do at every fetch, verified or claimed. */
const isSampled = ({ seed, sampled }: Rule, { hash }: Person): boolean =>
  sampled >= SAMPLE_SIZE || mix(mix(hash ^ seed) + seed) % SAMPLE_SIZE < sampled;

/** Returns the limit that was reached, given the end of the period that is full; a full `total` closes the question. */
export const reachedLimit = ({ full_until }: { full_until: Date | null }): ReachedLimit | null =>
  full_until && { until: full_until.getTime() };

type RuleRow = Omit<CardRules, 'response_limit'> & { id: string; status: QuestionStatus };

/** Returns the rule of a stored question. */
export const compileRule = (
  row: RuleRow,
  limitReached: ReachedLimit | null = null,
  compile: AudienceCompiler['compile'] = compileAudience,
): Rule => ({
  id: row.id,
  status: row.status,
  allow_public: row.allow_public,
  startAt: row.start_at?.getTime() ?? null,
  endAt: row.end_at?.getTime() ?? null,
  frequency: completeFrequency(row.frequency),
  hasTrigger: row.trigger !== null,
  sampled: Math.round((row.sampling_percent / 100) * SAMPLE_SIZE),
  seed: mix(hashText(row.id)),
  limitReached,
  audience: row.audience && compile(row.audience),
});

/** Returns the rules of a tenant's stored questions, which share equal conditions. */
export const compileRules = (
  rows: readonly (RuleRow & { full_until: Date | null })[],
  { compile } = createAudienceCompiler(),
): Rule[] => rows.map(row => compileRule(row, reachedLimit(row), compile));

/** Number of persons so far. */
let persons = 0;

/**
 * Returns a person as decisions need them. The identity is hashed once for all questions. A claimed identity has no
 * attributes, because its cards could reveal those of the profile to anyone who claims it.
 */
export function toPerson({ identity, verified, attributes, records, ...device }: PersonFacts): Person {
  const { platform, app_version, locale } = device;
  return {
    verified,
    attributes: verified ? attributes : {},
    hash: mix(hashText(identity)),
    platform: platform ?? null,
    app_version: app_version ?? null,
    version: app_version ? parseVersion(app_version) : undefined,
    locale: locale || null,
    records: new Map(records.map(record => [record.question_id, record])),
    number: ++persons,
  };
}

const verdict = (gate: Gate, passed: boolean, changesAt: number | null = null): GateVerdict => ({
  gate,
  passed,
  changesAt,
});

function judgeSchedule({ startAt, endAt }: Rule, now: number): GateVerdict {
  if (endAt !== null && now >= endAt) return verdict('schedule', false);
  if (startAt !== null && now < startAt) return verdict('schedule', false, startAt);
  return verdict('schedule', true, endAt);
}

/** The end of the time in which an answer or a dismissal hides the card; null for ever, undefined if it is not hidden. */
function hiddenUntil({ frequency }: Rule, record: CardRecord): number | null | undefined {
  const { repeat, every_days, max_displays, snooze_after_dismiss_days } = frequency;
  if (max_displays != null && record.displays >= max_displays) return null;
  if (repeat === 'always') return undefined;
  if (repeat === 'once') return null;
  if (record.answered_at && repeat !== 'every_days') return null;
  const answered = record.answered_at ? record.answered_at.getTime() + (every_days ?? 0) * DAY_MS : 0;
  const dismissed = record.dismissed_at ? record.dismissed_at.getTime() + snooze_after_dismiss_days * DAY_MS : 0;
  return Math.max(answered, dismissed);
}

function judgeFrequency(rule: Rule, { records }: Person, now: number): GateVerdict {
  const record = records.get(rule.id);
  const until = record && hiddenUntil(rule, record);
  if (until === undefined || (until !== null && until <= now)) return verdict('frequency', true);
  return verdict('frequency', false, until);
}

function judgeLimit({ limitReached }: Rule, now: number): GateVerdict {
  if (limitReached === null) return verdict('limit', true);
  const { until } = limitReached;
  return until !== null && until <= now ? verdict('limit', true) : verdict('limit', false, until);
}

function judgeAudience({ audience }: Rule, person: Person, now: number): GateVerdict {
  if (audience === null) return verdict('audience', true);
  const isIncluded = audience.includes(person, now);
  return verdict('audience', isIncluded, audienceChange(audience, person, now, isIncluded));
}

/** The cooldown of one person, and whether the one place of questions under it is taken. */
export interface Cooldown {
  /** The end of the cooldown that each question started, for those that have not ended, last first. */
  ends: readonly { questionId: string; until: number }[];
  /** Whether a question with a higher priority has the place. */
  isTaken: boolean;
}

/** Returns the cooldown of a person, before the first question is decided. */
export function startCooldown({ records }: Person, { days, ignoring }: CooldownTerms, now: number): Cooldown {
  const ends: { questionId: string; until: number }[] = [];
  for (const { question_id, shown_at } of records.values()) {
    const until = shown_at.getTime() + days * DAY_MS;
    if (until > now && !ignoring.has(question_id)) ends.push({ questionId: question_id, until });
  }
  return { ends: ends.sort((one, other) => other.until - one.until), isTaken: false };
}

/** Another question starts the cooldown: one that was shown already may be shown again. */
function judgeCooldown({ id, frequency, hasTrigger }: Rule, { ends, isTaken }: Cooldown): GateVerdict {
  if (frequency.ignore_cooldown) return verdict('cooldown', true);
  const last = ends.find(({ questionId }) => questionId !== id);
  if (last) return verdict('cooldown', false, isTaken && !hasTrigger ? null : last.until);
  return verdict('cooldown', !isTaken || hasTrigger);
}

/**
 * Decides on the card of one question for one person: yields the verdict of each gate in order. The card is shown if all
 * pass. The card fetch stops at the first that fails; explanations take all.
 *
 * Call it in order of priority with the same `cooldown`, whose place belongs to the first card under the cooldown (`takePlace`).
 */
export function* decide(rule: Rule, person: Person, cooldown: Cooldown, now: number): Generator<GateVerdict, void> {
  yield verdict('status', rule.status === 'live' || rule.status === 'scheduled');
  yield judgeSchedule(rule, now);
  yield verdict('public', person.verified || rule.allow_public);
  yield judgeFrequency(rule, person, now);
  yield verdict('sampling', isSampled(rule, person));
  yield judgeLimit(rule, now);
  yield judgeAudience(rule, person, now);
  yield judgeCooldown(rule, cooldown);
}

/** Whether a question is under the cooldown and has no trigger: of these only the first is shown. */
const needsPlace = ({ frequency, hasTrigger }: Rule): boolean => !frequency.ignore_cooldown && !hasTrigger;

/** Records that a question is shown. */
function takePlace(rule: Rule, cooldown: Cooldown): void {
  if (needsPlace(rule)) cooldown.isTaken = true;
}

/** The questions of a person's cards. */
export interface Selection {
  /** Positions in the rules. */
  positions: number[];
  /** The next time at which the selection may change without an event, in milliseconds since 1970; infinity: never. */
  changesAt: number;
}

/**
 * Returns the positions of the rules whose cards a person sees now. `rules` are in order of priority; `withhold` receives
 * the first gate that each of the others fails.
 */
export function selectCards(
  rules: readonly Rule[],
  person: Person,
  terms: CooldownTerms,
  now: number,
  withhold: (gate: Gate) => void = () => {},
): Selection {
  const cooldown = startCooldown(person, terms, now);
  const selection: Selection = { positions: [], changesAt: Number.POSITIVE_INFINITY };
  for (const [position, rule] of rules.entries()) {
    const failed = firstFailed(rule, person, cooldown, now, selection);
    if (failed) {
      withhold(failed);
      continue;
    }
    takePlace(rule, cooldown);
    selection.positions.push(position);
  }
  return selection;
}

/** Returns the first gate that fails. Lowers `changesAt` to the time at which the card appears or disappears. */
function firstFailed(
  rule: Rule,
  person: Person,
  cooldown: Cooldown,
  now: number,
  selection: Selection,
): Gate | undefined {
  let endsAt = Number.POSITIVE_INFINITY;
  for (const { gate, passed, changesAt } of decide(rule, person, cooldown, now)) {
    if (!passed) {
      if (changesAt !== null) selection.changesAt = Math.min(selection.changesAt, changesAt);
      return gate;
    }
    if (changesAt !== null) endsAt = Math.min(endsAt, changesAt);
  }
  selection.changesAt = Math.min(selection.changesAt, endsAt);
  return undefined;
}

/** The verdicts of every gate on one question. */
export interface Explanation {
  shown: boolean;
  verdicts: GateVerdict[];
}

/** Returns the verdicts of every gate on each rule, in the order of the rules. */
export function explainCards(rules: readonly Rule[], person: Person, terms: CooldownTerms, now: number): Explanation[] {
  const cooldown = startCooldown(person, terms, now);
  return rules.map(rule => {
    const verdicts = [...decide(rule, person, cooldown, now)];
    const shown = verdicts.every(({ passed }) => passed);
    if (shown) takePlace(rule, cooldown);
    return { shown, verdicts };
  });
}

/** Returns the first gate that keeps a person from the rule at `position`; undefined if they see its card. */
export function judgeReach(
  rules: readonly Rule[],
  position: number,
  person: Person,
  terms: CooldownTerms,
  now: number,
): Gate | undefined {
  const rule = rules[position] as Rule;
  const selection: Selection = { positions: [], changesAt: Number.POSITIVE_INFINITY };
  const cooldown = startCooldown(person, terms, now);
  const failed = firstFailed(rule, person, cooldown, now, selection);
  if (failed || !needsPlace(rule)) return failed;
  const takesPlace = (other: Rule) => needsPlace(other) && !firstFailed(other, person, cooldown, now, selection);
  return rules.slice(0, position).some(takesPlace) ? 'cooldown' : undefined;
}
