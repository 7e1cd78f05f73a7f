import { DAY_MS } from '../durations.ts';
import { parseTypeId } from '../ids.ts';
import { matcherOf } from '../locales.ts';
import type { Attributes } from '../people/identities.ts';
import type { AnsweredCondition, Audience, AudienceNode, DeviceCondition } from '../rules/audiences.ts';
import { parseDate, type ValueOperator } from '../rules/operators.ts';
import { compareVersions, parseVersion, type Version } from '../rules/semver.ts';
import { type Condition, holds } from '../steps.ts';
import type { CardRecord } from './cards.ts';

/** The facts about a person on which audiences depend. */
export interface AudienceFacts {
  verified: boolean;
  attributes: Attributes;
  platform: string | null;
  /** In lower case, with hyphens. */
  locale: string | null;
  app_version: string | null;
  /** The version in `app_version`; undefined for other texts. */
  version: Version | undefined;
  /** The card records by question. */
  records: ReadonlyMap<string, CardRecord>;
  /** Distinguishes these facts from all others, for shared conditions. */
  number?: number;
}

type Test = (facts: AudienceFacts, now: number) => boolean;
/** Returns the one time at which a condition changes, in milliseconds since 1970; undefined if time does not change it. */
type ChangeTime = (facts: AudienceFacts) => number | undefined;

/** An audience as a function, compiled once. */
export interface CompiledAudience {
  includes: Test;
  /** The conditions that change by time. */
  changes: readonly ChangeTime[];
}

type Scalar = string | number | boolean;
const listed = (value: unknown): readonly Scalar[] => (Array.isArray(value) ? value : [value as Scalar]);

/** Returns a test of a value that is present. Types never mix: every comparison with another type is false. */
function valueTest(op: ValueOperator, wanted: unknown): (given: Scalar) => boolean {
  const list = listed(wanted);
  const hasType = (given: Scalar): boolean => list.some(each => typeof each === typeof given);
  const compare = (isMet: (given: number, wanted: number) => boolean) => (given: Scalar) =>
    typeof given === 'number' && isMet(given, wanted as number);
  const search = (isMet: (given: string, wanted: string) => boolean) => (given: Scalar) =>
    typeof given === 'string' && isMet(given, wanted as string);
  switch (op) {
    case 'eq':
      return given => given === wanted;
    case 'in':
      return given => list.includes(given);
    case 'ne':
    case 'not_in':
      return given => hasType(given) && !list.includes(given);
    case 'lt':
      return compare((given, limit) => given < limit);
    case 'lte':
      return compare((given, limit) => given <= limit);
    case 'gt':
      return compare((given, limit) => given > limit);
    case 'gte':
      return compare((given, limit) => given >= limit);
    case 'contains':
      return search((given, part) => given.includes(part));
    case 'starts_with':
      return search((given, part) => given.startsWith(part));
    case 'ends_with':
      return search((given, part) => given.endsWith(part));
    case 'before':
    case 'after':
      return dateTest(op, parseDate(wanted) as number);
    case 'set':
      return () => true;
    default:
      return () => false;
  }
}

function dateTest(op: 'before' | 'after', limit: number): (given: Scalar) => boolean {
  return given => {
    const time = parseDate(given);
    return time !== undefined && (op === 'before' ? time < limit : time > limit);
  };
}

/** The times at which conditions change, collected by the compiler. */
type Changes = ChangeTime[];

function attributeTest({ attribute, op, value }: AudienceNode, changes: Changes): Test {
  const name = attribute as string;
  const isInherited = name in Object.prototype; // such as "constructor"; for all others one look-up is enough
  const given = ({ attributes }: AudienceFacts): Scalar | undefined =>
    isInherited && !Object.hasOwn(attributes, name) ? undefined : attributes[name];
  if (op === 'not_set') return facts => given(facts) === undefined;
  if (op === 'older_than_days' || op === 'newer_than_days') {
    const changesAt: ChangeTime = facts => {
      const time = parseDate(given(facts));
      return time === undefined ? undefined : time + (value as number) * DAY_MS;
    };
    changes.push(changesAt);
    return (facts, now) => {
      const at = changesAt(facts);
      return at !== undefined && (op === 'older_than_days' ? now >= at : now < at);
    };
  }
  const isMet = valueTest(op as ValueOperator, value);
  return facts => {
    const known = given(facts);
    return known !== undefined && isMet(known);
  };
}

/** Returns a test of a text of the device; null is missing. */
function textTest({ op, value }: DeviceCondition): (given: string | null) => boolean {
  if (op === 'not_set') return given => given === null;
  const isMet = valueTest(op, value);
  return given => given !== null && isMet(given);
}

const VERSION_RESULTS: Partial<Record<ValueOperator, (order: number) => boolean>> = {
  eq: order => order === 0,
  in: order => order === 0,
  lt: order => order < 0,
  lte: order => order <= 0,
  gt: order => order > 0,
  gte: order => order >= 0,
};

/** Returns a test of the app's version. A text that is no version meets only `set`. */
function versionTest({ op, value }: DeviceCondition): (app_version: string | null, version?: Version) => boolean {
  if (op === 'set') return text => text !== null;
  if (op === 'not_set') return text => text === null;
  const wanted = listed(value).map(each => parseVersion(String(each)) as Version);
  const isMet = VERSION_RESULTS[op];
  return (_, version) =>
    version !== undefined &&
    (isMet
      ? wanted.some(each => isMet(compareVersions(version, each)))
      : wanted.every(each => compareVersions(version, each) !== 0));
}

/** Returns a test of a locale by the languages that it belongs to. */
function localeTest({ op, value }: DeviceCondition): (locale: string | null) => boolean {
  if (op === 'set') return locale => locale !== null;
  if (op === 'not_set') return locale => locale === null;
  const matchers = listed(value).map(range => matcherOf(String(range)));
  const isIn = (locale: string) => matchers.some(matches => matches(locale));
  return op === 'eq' || op === 'in'
    ? locale => locale !== null && isIn(locale)
    : locale => locale !== null && !isIn(locale);
}

/** Returns a test of the person's last answer to a question. Only the time of texts and dates is known. */
function answeredTest({ question, op, value, within_days }: AnsweredCondition, changes: Changes): Test {
  const id = parseTypeId('question', question) as string;
  const condition = { step: '', op, value } as Condition;
  if (within_days)
    changes.push(({ records }) => {
      const answered = records.get(id)?.answered_at;
      return answered ? answered.getTime() + within_days * DAY_MS : undefined;
    });
  return ({ records }, now) => {
    const record = records.get(id);
    const answered = record?.answered_at;
    const isAnswered = answered != null && (!within_days || now < answered.getTime() + within_days * DAY_MS);
    if (op === 'answered') return isAnswered;
    if (op === 'not_answered') return !isAnswered;
    return isAnswered && record?.last_value != null && holds(condition, record.last_value);
  };
}

function leafTest(leaf: AudienceNode, changes: Changes): Test {
  if (leaf.attribute !== undefined) return attributeTest(leaf, changes);
  if (leaf.answered) return answeredTest(leaf.answered, changes);
  if (leaf.verified !== undefined) return ({ verified }) => verified === leaf.verified;
  if (leaf.platform) {
    const isMet = textTest(leaf.platform);
    return ({ platform }) => isMet(platform);
  }
  if (leaf.app_version) {
    const isMet = versionTest(leaf.app_version);
    return ({ app_version, version }) => isMet(app_version, version);
  }
  const isMet = localeTest(leaf.locale as DeviceCondition);
  return ({ locale }) => isMet(locale);
}

type CompileLeaf = typeof leafTest;

function compileNode(node: AudienceNode, changes: Changes, compileLeaf: CompileLeaf): Test {
  const nodes = node.all ?? node.any ?? node.none;
  if (!nodes) return compileLeaf(node, changes);
  const tests = nodes.map(each => compileNode(each, changes, compileLeaf));
  if (node.all) return untilFirst(tests, false, false);
  return untilFirst(tests, true, node.any !== undefined);
}

/**
 * Returns a test that is `found` if one of `tests` has the result `wanted`, and the reverse otherwise. A loop, because a callback
 * for each condition took a quarter of the time to decide on 200 questions with 20 conditions each.
 */
function untilFirst(tests: readonly Test[], wanted: boolean, found: boolean): Test {
  return (facts, now) => {
    for (const test of tests) if (test(facts, now) === wanted) return found;
    return !found;
  };
}

/** Returns an audience as a function. */
export function compileAudience(audience: Audience, compileLeaf: CompileLeaf = leafTest): CompiledAudience {
  const changes: Changes = [];
  return { includes: compileNode(audience, changes, compileLeaf), changes };
}

/** Returns a test that is evaluated once for the same facts. */
function evaluatedOnce(test: Test): Test {
  let last: number | undefined;
  let result = false;
  return (facts, now) => {
    if (facts.number === undefined || facts.number !== last) {
      result = test(facts, now);
      last = facts.number;
    }
    return result;
  };
}

/** Compiles the audiences of one tenant. */
export interface AudienceCompiler {
  compile(audience: Audience): CompiledAudience;
  /** The different conditions so far. */
  conditions(): AudienceNode[];
}

/**
 * Creates a compiler with which equal conditions share one function, evaluated once for each person: most conditions of a tenant
 * occur in several questions.
 */
export function createAudienceCompiler(): AudienceCompiler {
  const known = new Map<string, { leaf: AudienceNode; test: Test; changes: Changes }>();
  const compileLeaf: CompileLeaf = (leaf, changes) => {
    const form = JSON.stringify(leaf);
    let shared = known.get(form);
    if (!shared) {
      const own: Changes = [];
      const test = leafTest(leaf, own);
      const isTimeless = own.length === 0;
      shared = { leaf, test: isTimeless ? evaluatedOnce(test) : test, changes: own };
      known.set(form, shared);
    }
    changes.push(...shared.changes);
    return shared.test;
  };
  return {
    compile: audience => compileAudience(audience, compileLeaf),
    conditions: () => [...known.values()].map(({ leaf }) => leaf),
  };
}

/**
 * Returns the next time at which the audience includes the person if it does not now, or the reverse, in milliseconds
 * since 1970; null if time does not change it. Each condition changes at most once.
 */
export function audienceChange(
  { includes, changes }: CompiledAudience,
  facts: AudienceFacts,
  now: number,
  isIncluded: boolean,
): number | null {
  if (changes.length === 0) return null;
  const times = changes.flatMap(changesAt => changesAt(facts) ?? []).filter(at => at > now);
  return times.toSorted((one, other) => one - other).find(at => includes(facts, at) !== isIncluded) ?? null;
}

/** Tests of one fact about the device by different live questions. */
export interface ContextTests {
  platform: ((platform: string | null) => boolean)[];
  app_version: ((app_version: string | null, version?: Version) => boolean)[];
  locale: ((locale: string | null) => boolean)[];
}

/** Returns the different tests of the device in some audiences. Devices with equal results have equal cards. */
export function contextTests(leaves: Iterable<AudienceNode>): ContextTests {
  const known = new Set<string>();
  const tests: ContextTests = { platform: [], app_version: [], locale: [] };
  for (const { platform, app_version, locale } of leaves) {
    const key = JSON.stringify([platform, app_version, locale]);
    if (known.has(key)) continue;
    known.add(key);
    if (platform) tests.platform.push(textTest(platform));
    if (app_version) tests.app_version.push(versionTest(app_version));
    if (locale) tests.locale.push(localeTest(locale));
  }
  return tests;
}
