import { canonicalJson } from './json.ts';
import type { QuestionContent, VersionChange } from './questions.ts';
import { jsonPointer } from './validation.ts';

/** Returns a step's texts and config by field, with each part of the config as a separate field. */
const stepFields = (base: string[], { config, ...step }: Record<string, unknown>): [string, unknown][] => [
  ...Object.entries(step).map(([name, value]): [string, unknown] => [jsonPointer([...base, name]), value]),
  ...Object.entries(config as object).map(([name, value]): [string, unknown] => [
    jsonPointer([...base, 'config', name]),
    value,
  ]),
];

/** Returns every text of a translation by field. */
const translationFields = (path: string[], value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, part]) => translationFields([...path, name], part))
    : [[jsonPointer(path), value]];

const THANKS_FIELDS = ['title', 'body', 'link'] as const;

/** Returns the content of a question by field. Steps are named by their key, so that a moved step has no changes. */
const fieldsOf = ({
  title,
  description,
  config,
  follow_ups,
  thanks,
  translations,
}: QuestionContent): Map<string, unknown> =>
  new Map<string, unknown>([
    ...stepFields([], { title, description, config }),
    ...follow_ups.flatMap(({ key, ...step }) => stepFields(['follow_ups', key], step)),
    ...(follow_ups.length > 0 ? [['/follow_ups', follow_ups.map(({ key }) => key)] as [string, unknown]] : []),
    ...(thanks ? THANKS_FIELDS.map((name): [string, unknown] => [`/thanks/${name}`, thanks[name]]) : []),
    ...translationFields(['translations'], translations),
  ]);

/**
 * Returns the changes from one version to the next. Values are compared as JSON, regardless of order, since PostgreSQL
 * returns members in a different one.
 */
export function versionChanges(before: QuestionContent, after: QuestionContent): VersionChange[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map(pointer => ({ pointer, before: old.get(pointer) ?? null, after: now.get(pointer) ?? null }))
    .filter(change => canonicalJson(change.before) !== canonicalJson(change.after));
}
