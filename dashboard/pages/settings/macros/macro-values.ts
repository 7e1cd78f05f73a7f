import type { Schemas } from '../../../api/schema.ts';
import type { Macro } from '../../inbox/macros/use-macros.ts';

type Changes = NonNullable<Schemas['MacroInput']['changes']>;

/** The values of the form; an empty text leaves a field of the conversation as it is. */
export interface MacroValues {
  name: string;
  shortcut: string;
  kind: Macro['kind'];
  body: string;
  changes: {
    status: '' | NonNullable<Changes['status']>;
    snooze_for_s: string;
    assignee_id: string;
    priority: '' | NonNullable<Changes['priority']>;
    add_tags: string;
    remove_tags: string;
    /** Values of custom fields as the API has them. */
    custom: NonNullable<Changes['custom']>;
  };
}

/** The choice that removes the assignee. */
export const NOBODY = 'none';
const DAY_S = 86_400;

/** The spans for which a macro can snooze, in seconds. */
export const SPANS: readonly number[] = [
  3600,
  4 * 3600,
  DAY_S,
  2 * DAY_S,
  3 * DAY_S,
  7 * DAY_S,
  14 * DAY_S,
  30 * DAY_S,
];

const tagsOf = (text: string): string[] =>
  text
    .split(',')
    .map(tag => tag.trim())
    .filter(Boolean);

/** Returns the values of the form for a macro; without one, those of a new saved reply. */
export function valuesOf(macro?: Macro): MacroValues {
  const {
    status,
    snooze_for_s,
    assignee_id,
    priority,
    add_tags = [],
    remove_tags = [],
    custom = {},
  } = macro?.changes ?? {};
  return {
    name: macro?.name ?? '',
    shortcut: macro?.shortcut ?? '',
    kind: macro?.kind ?? 'reply',
    body: macro?.body ?? '',
    changes: {
      status: status ?? '',
      snooze_for_s: String(snooze_for_s ?? DAY_S),
      assignee_id: assignee_id === null ? NOBODY : (assignee_id ?? ''),
      priority: priority ?? '',
      add_tags: add_tags.join(', '),
      remove_tags: remove_tags.join(', '),
      custom,
    },
  };
}

function changesOf({
  status,
  snooze_for_s,
  assignee_id,
  priority,
  add_tags,
  remove_tags,
  custom,
}: MacroValues['changes']): Changes {
  const [added, removed] = [tagsOf(add_tags), tagsOf(remove_tags)];
  return {
    ...(status ? { status } : {}),
    ...(status === 'snoozed' ? { snooze_for_s: Number(snooze_for_s) } : {}),
    ...(assignee_id ? { assignee_id: assignee_id === NOBODY ? null : assignee_id } : {}),
    ...(priority ? { priority } : {}),
    ...(added.length > 0 ? { add_tags: added } : {}),
    ...(removed.length > 0 ? { remove_tags: removed } : {}),
    ...(Object.keys(custom).length > 0 ? { custom } : {}),
  };
}

/** Returns the request body for the values of the form. */
export const macroOf = ({ name, shortcut, kind, body, changes }: MacroValues): Schemas['MacroInput'] => ({
  name,
  shortcut: shortcut || null,
  kind,
  body: body.trim() === '' ? null : body,
  changes: changesOf(changes),
});
