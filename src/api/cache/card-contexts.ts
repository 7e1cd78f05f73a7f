import { contextTests } from '../../domain/cards/compiled-audiences.ts';
import { leavesOf } from '../../domain/rules/audiences.ts';
import { parseVersion } from '../../domain/rules/semver.ts';
import type { LiveQuestionRow } from '../../storage/questions/questions.ts';
import { shortHash } from '../http/etag.ts';

/** The device of a request, and whether its client handles triggers. */
export interface CardContext {
  platform?: string | undefined;
  app_version?: string | undefined;
  locale?: string | undefined;
  triggers?: boolean | undefined;
}

/** Number of values of one fact whose class is remembered. Most apps have fewer platforms, versions and languages. */
const MAX_REMEMBERED = 64;
/** Longer classes are hashed. */
const MAX_CLASS_LENGTH = 11;

/**
 * Returns the class of a value: values that no test distinguishes have the same. Its memory is bounded, so that invented
 * values cannot fill it.
 */
function createClasses(tests: readonly ((value: string | null) => boolean)[]): (value: string | undefined) => string {
  if (tests.length === 0) return () => '';
  const classOf = (value: string | null): string => {
    const met = tests.map(test => (test(value) ? '1' : '0')).join('');
    return met.length > MAX_CLASS_LENGTH ? shortHash(met) : met;
  };
  const missing = '-'; // the profile decides then
  const known = new Map<string, string>();
  return value => {
    if (value === undefined) return missing;
    const found = known.get(value);
    if (found !== undefined) return found;
    if (known.size >= MAX_REMEMBERED) known.clear();
    const made = classOf(value);
    known.set(value, made);
    return made;
  };
}

/**
 * Returns a function of requests: those with an equal result see the same cards, because no live question distinguishes
 * them. It is empty if the live questions depend on no such fact.
 */
export function createContextKeys(live: readonly LiveQuestionRow[]): (context: CardContext) => string {
  const tests = contextTests(
    live.flatMap(({ audience }) => (audience ? leavesOf(audience).map(({ leaf }) => leaf) : [])),
  );
  const hasTriggers = live.some(({ trigger }) => trigger !== null);
  const platforms = createClasses(tests.platform);
  const versions = createClasses(
    tests.app_version.map(test => (text: string | null) => test(text, text === null ? undefined : parseVersion(text))),
  );
  const locales = createClasses(tests.locale);
  const isConstant = Object.values(tests).every(each => each.length === 0);
  return ({ platform, app_version, locale, triggers }) => {
    const triggered = hasTriggers && triggers === true ? 't' : '';
    return isConstant ? triggered : `${triggered}.${platforms(platform)}.${versions(app_version)}.${locales(locale)}`;
  };
}
