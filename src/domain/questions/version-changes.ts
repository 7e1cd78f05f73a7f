import { canonicalJson } from '../json.ts';
import { jsonPointer } from '../validation.ts';
import type { QuestionContent, VersionChange } from './questions.ts';

/** Returns a step's texts and config by field, with each part of the config as a separate field. */
const stepFields = (base: string[], { config, ...step }: Record<string, unknown>): [string, unknown][] => [
  ...Object.entries(step).map(([name, value]): [string, unknown] => [jsonPointer([...base, name]), value]),
  ...Object.entries(config as object).map(([name, value]): [string, unknown] => [
    jsonPointer([...base, 'config', name]),
    value,
  ]),
];

const isTexts = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the texts of translations that differ. Only these get a pointer: a question has thousands of them. */
function changedTexts(path: readonly string[], before: unknown, after: unknown): VersionChange[] {
  if (!isTexts(before) && !isTexts(after))
    return before === after ? [] : [{ pointer: jsonPointer(path), before: before ?? null, after: after ?? null }];
  const [old, now] = [isTexts(before) ? before : {}, isTexts(after) ? after : {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap(name =>
    changedTexts([...path, name], old[name], now[name]),
  );
}

const THANKS_FIELDS = ['title', 'body', 'link'] as const;

/** Returns the content of a question by field. Steps are named by their key, so that a moved step has no changes. */
const fieldsOf = ({ title, description, config, follow_ups, thanks }: QuestionContent): Map<string, unknown> =>
  new Map<string, unknown>([
    ...stepFields([], { title, description, config }),
    ...follow_ups.flatMap(({ key, ...step }) => stepFields(['follow_ups', key], step)),
    ...(follow_ups.length > 0 ? [['/follow_ups', follow_ups.map(({ key }) => key)] as [string, unknown]] : []),
    ...(thanks ? THANKS_FIELDS.map((name): [string, unknown] => [`/thanks/${name}`, thanks[name]]) : []),
  ]);

/**
 * Returns the changes from one version to the next. Values are compared as JSON, regardless of order, since PostgreSQL
 * returns members in a different one.
 */
export function versionChanges(before: QuestionContent, after: QuestionContent): VersionChange[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const fields = [...new Set([...old.keys(), ...now.keys()])]
    .map(pointer => ({ pointer, before: old.get(pointer) ?? null, after: now.get(pointer) ?? null }))
    .filter(change => canonicalJson(change.before) !== canonicalJson(change.after));
  return [...fields, ...changedTexts(['translations'], before.translations, after.translations)];
}
