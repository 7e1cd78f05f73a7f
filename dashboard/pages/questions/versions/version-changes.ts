import type { VersionWithChanges } from '../../../api/names.ts';
import type { Schemas } from '../../../api/schema.ts';
import { t } from '../../../i18n.ts';
import { typeName } from '../../../words.ts';
import type { Change } from '../changes.ts';
import { configValuesOf } from '../config-values.ts';
import { languageName } from '../languages/names.ts';
import { comparedSteps, followUpValuesOf, showIfText } from '../steps/step-values.ts';
import { configChanges, readableText, recallTexts, shortText, valueChange } from './change-texts.ts';
import { type Content, earlierContent, namesIn, stepKeys } from './earlier-content.ts';

type FollowUp = Schemas['FollowUp'];

/** The question before and after the changes of a version. */
interface Contents {
  before: Content;
  after: Content;
}

const titleIn = ({ follow_ups }: Content, key: string): string | undefined =>
  follow_ups.find(step => step.key === key)?.title;

/** Returns how a step is named in the list: by its present title, else by the last one, else by its key. */
const stepName = ({ before, after }: Contents, key: string): string =>
  t('Step “{title}”', { title: shortText(titleIn(after, key) || titleIn(before, key) || key) });

/** Returns when a step is shown, as a sentence. */
function conditionIn({ type, title, config, follow_ups }: Content, step: FollowUp): string {
  const values = {
    ...{ type, title, config: configValuesOf(config) },
    follow_ups: follow_ups.map(followUpValuesOf),
  };
  return shortText(showIfText(followUpValuesOf(step), comparedSteps(values)));
}

/** Returns the type and the rules of a step, such as “Text · Required · Shown if “How likely?” is at most 6”. */
const stepSummary = (content: Content, step: FollowUp): string =>
  [
    typeName(step.type),
    step.required ? t('Required') : t('Optional'),
    step.show_if ? t('Shown if {condition}', { condition: conditionIn(content, step) }) : '',
  ]
    .filter(Boolean)
    .join(' · ');

/** The steps that were added, removed or moved. */
function listedSteps(contents: Contents, [old, now]: readonly [string[], string[]]): Change[] {
  const { before, after } = contents;
  const find = ({ follow_ups }: Content, key: string) => follow_ups.find(step => step.key === key) as FollowUp;
  const added = now.filter(key => !old.includes(key));
  const removed = old.filter(key => !now.includes(key));
  const [oldOrder, order] = [old.filter(key => now.includes(key)), now.filter(key => old.includes(key))];
  const titles = (keys: string[]) => keys.map(key => shortText(titleIn(after, key) ?? key)).join(' → ');
  return [
    ...added.map(key => ({
      label: t('{part} added', { part: stepName(contents, key) }),
      after: stepSummary(after, find(after, key)),
    })),
    ...removed.map(key => ({
      label: t('{part} removed', { part: stepName(contents, key) }),
      before: stepSummary(before, find(before, key)),
    })),
    ...(oldOrder.join('\n') === order.join('\n')
      ? []
      : [{ label: t('Steps reordered'), before: titles(oldOrder), after: titles(order) }]),
  ];
}

function fieldChanges(subject: string[], names: string[], before: unknown, after: unknown) {
  const [name = '', part = ''] = names;
  if (name === 'config') return configChanges(subject, part, before, after);
  if (name === 'title') return valueChange(subject, t('Question'), before, after);
  if (name === 'type') return valueChange(subject, t('Type'), typeName(before as never), typeName(after as never));
  return name === 'description'
    ? valueChange(subject, t('Description'), before, after)
    : valueChange(subject, name, before, after);
}

/** The changes of a step that both versions have. */
function stepChanges(contents: Contents, key: string, names: string[], before: unknown, after: unknown): Change[] {
  const subject = stepName(contents, key);
  if (names[0] === 'title') {
    const step = t('Step “{title}”', { title: shortText(String(before)) });
    return [
      {
        label: [t('{part} retitled', { part: step }), ...recallTexts(before, after)].join(' · '),
        before: readableText(String(before)),
        after: readableText(String(after)),
      },
    ];
  }
  if (names[0] === 'required')
    return [
      {
        label: after ? t('{part} is now required', { part: subject }) : t('{part} is now optional', { part: subject }),
      },
    ];
  if (names[0] !== 'show_if') return fieldChanges([subject], names, before, after);
  const sentence = (content: Content) =>
    conditionIn(content, content.follow_ups.find(step => step.key === key) as FollowUp);
  return valueChange([subject], t('Condition'), sentence(contents.before), sentence(contents.after));
}

const linkText = (link: unknown): string | undefined => {
  const { label, url } = (link ?? {}) as { label?: string; url?: string };
  return label && `${label} (${url})`;
};

/** The changes of the thanks; a single one when they were added or removed. */
function thanksChanges(version: Content, changes: readonly Schemas['VersionChange'][]): Change[] {
  const own = changes.filter(({ pointer }) => pointer.startsWith('/thanks/'));
  const textOf = (side: 'before' | 'after') =>
    own
      .map(change => (change.pointer === '/thanks/link' ? linkText(change[side]) : (change[side] as string | null)))
      .filter(Boolean)
      .map(text => readableText(text as string))
      .join('\n');
  const title = own.find(({ pointer }) => pointer === '/thanks/title');
  if (title?.before === null) return [{ label: t('Thanks added'), after: textOf('after') }];
  if (own.length > 0 && !version.thanks) return [{ label: t('Thanks removed'), before: textOf('before') }];
  return own.flatMap(({ pointer, before, after }) => {
    const parts: Record<string, string> = { '/thanks/title': t('Title'), '/thanks/body': t('Text') };
    return pointer === '/thanks/link'
      ? valueChange([t('Thanks')], t('Link'), linkText(before), linkText(after))
      : valueChange([t('Thanks')], parts[pointer] ?? pointer, before, after);
  });
}

/** Returns the part of the question that a path in a translation leads to. */
function translatedPart(contents: Contents, path: readonly string[]): [subject: string[], part: string] {
  const [first = '', second = '', ...rest] = path;
  if (first === 'follow_ups') {
    const [subject, part] = translatedPart(contents, rest);
    return [[stepName(contents, second), ...subject], part];
  }
  const thanks: Record<string, string> = { title: t('Title'), body: t('Text'), link: t('Link') };
  if (first === 'thanks') return [[t('Thanks')], thanks[second] ?? second];
  if (first === 'config' && second === 'options') return [[], t('Option')];
  if (first === 'config') return [[], rest[0] === 'low' ? t('Low end label') : t('High end label')];
  return [[], first === 'title' ? t('Question') : t('Description')];
}

/** The changes of one language; a single one when it was added or removed. */
function languageChanges(contents: Contents, tag: string, own: readonly Schemas['VersionChange'][]): Change[] {
  const part = languageName(tag);
  const titleIs = (side: 'before' | 'after') =>
    own.find(({ pointer }) => namesIn(pointer).length === 3 && pointer.endsWith('/title'))?.[side];
  const summary = (side: 'before' | 'after') =>
    [
      t('{count, plural, one {# text} other {# texts}}', { count: own.length }),
      readableText(String(titleIs(side) ?? '')),
    ]
      .filter(Boolean)
      .join(' · ');
  if (own.every(({ after }) => after === null) && !contents.after.translations[tag])
    return [{ label: t('{part} removed', { part }), before: summary('before') }];
  if (titleIs('before') === null) return [{ label: t('{part} added', { part }), after: summary('after') }];
  return own.flatMap(({ pointer, before, after }) => {
    const [subject, name] = translatedPart(contents, namesIn(pointer).slice(2));
    return valueChange([part, ...subject], name, before, after);
  });
}

/**
 * Returns the changes of a version as sentences, with the text before and after where there is one. Steps have their
 * titles, options their labels, languages their names.
 */
export function changesIn(version: VersionWithChanges): Change[] {
  const { changes } = version;
  const contents = { before: earlierContent(version, changes), after: version };
  const keys = stepKeys(version, changes);
  const inBoth = (key = '') => keys.every(list => list.includes(key));
  const translated = changes.filter(({ pointer }) => pointer.startsWith('/translations/'));
  const languages = new Set(translated.map(({ pointer }) => namesIn(pointer)[1] as string));
  return [
    ...changes.flatMap(({ pointer, before, after }) => {
      const [first = '', key = '', ...names] = namesIn(pointer);
      if (first === 'follow_ups') return inBoth(key) ? stepChanges(contents, key, names, before, after) : [];
      if (first === 'thanks' || first === 'translations') return [];
      return fieldChanges([], [first, key], before, after);
    }),
    ...listedSteps(contents, keys),
    ...thanksChanges(version, changes),
    ...[...languages].flatMap(tag =>
      languageChanges(
        contents,
        tag,
        translated.filter(({ pointer }) => namesIn(pointer)[1] === tag),
      ),
    ),
  ];
}
