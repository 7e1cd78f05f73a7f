import type { ApiKey, MemberRole } from './api/names.ts';
import type { Schemas } from './api/schema.ts';
import type { Tone } from './components/badge.tsx';
import { formatNumber, t } from './i18n.ts';

export type QuestionType = Schemas['Question']['type'];
export type QuestionStatus = Schemas['Question']['status'];
export type ConversationStatus = Schemas['Conversation']['status'];
export type Placement = Schemas['Placement'];
export type Priority = NonNullable<Schemas['Conversation']['priority']>;

/** Labels of API values; functions, because the language can change. */
const ROLES = (): Record<MemberRole, [string, string]> => ({
  owner: [t('Owner'), t('Full access, including managing owners')],
  admin: [t('Admin'), t('Full access except managing owners')],
  agent: [t('Agent'), t('Replies in conversations; read-only otherwise')],
  analyst: [t('Analyst'), t('Read-only access')],
});

export const roleName = (role: MemberRole): string => ROLES()[role][0];
export const roleHint = (role: MemberRole): string => ROLES()[role][1];

const TYPES = (): Record<QuestionType, [string, string]> => ({
  nps: [t('Net Promoter Score'), t('Likelihood to recommend, 0 to 10')],
  csat: [t('Satisfaction'), t('1 to 5, shown as numbers, smileys or stars')],
  ces: [t('Effort'), t('Ease of use, 1 to 5 or 1 to 7')],
  rating: [t('Rating'), t('Stars or numbers on a custom scale')],
  thumbs: [t('Thumbs'), t('Thumbs up or down')],
  single_choice: [t('Single choice'), t('One of up to 30 options')],
  multi_choice: [t('Multiple choice'), t('One or more of up to 30 options')],
  text: [t('Text'), t('Free text')],
  date: [t('Date'), t('A calendar date')],
  consent: [t('Consent'), t('A checkbox')],
  statement: [t('Statement'), t('An announcement with an optional link')],
});

export const typeName = (type: QuestionType): string => TYPES()[type][0];
export const typeHint = (type: QuestionType): string => TYPES()[type][1];
export const questionTypes = (): QuestionType[] => Object.keys(TYPES()) as QuestionType[];

export const statusName = (status: QuestionStatus): string =>
  ({
    ...{ draft: t('Draft'), scheduled: t('Scheduled'), live: t('Live') },
    ...{ paused: t('Paused'), closed: t('Closed'), archived: t('Archived') },
  })[status];

export const STATUS_TONE: Record<QuestionStatus, Tone> = {
  draft: 'neutral',
  scheduled: 'info',
  live: 'good',
  paused: 'warn',
  closed: 'neutral',
  archived: 'neutral',
};

export type Gate = Schemas['GateDecision']['gate'];

/** Why a card is not shown: the condition that fails. */
export const gateName = (gate: Gate): string =>
  ({
    status: t('Question not live'),
    schedule: t('Outside of the schedule'),
    public: t('Only for verified users'),
    frequency: t('Answered, dismissed or shown before'),
    sampling: t('Not in the chosen share'),
    limit: t('Maximum number of answers reached'),
    audience: t('Not in the audience'),
    cooldown: t('Another question comes first'),
  })[gate];

/** Where cards can appear. */
export const PLACEMENTS: readonly Placement[] = [
  'inline',
  ...(['top-left', 'top-center', 'top-right', 'bottom-left', 'bottom-center', 'bottom-right'] as const).map(
    (position): Placement => `popover-${position}`,
  ),
  'modal',
  'button',
];

export const placementName = (placement: Placement): string =>
  ({
    inline: t('Within the page'),
    'popover-top-left': t('Popover, top left'),
    'popover-top-center': t('Popover, top center'),
    'popover-top-right': t('Popover, top right'),
    'popover-bottom-left': t('Popover, bottom left'),
    'popover-bottom-center': t('Popover, bottom center'),
    'popover-bottom-right': t('Popover, bottom right'),
    modal: t('Dialog above the dimmed page'),
    button: t('Feedback button'),
  })[placement];

export const CONVERSATION_STATUSES: readonly ConversationStatus[] = ['open', 'pending', 'snoozed', 'resolved'];

export const conversationStatus = (status: ConversationStatus): string =>
  ({ open: t('Open'), pending: t('Waiting for user'), snoozed: t('Snoozed'), resolved: t('Resolved') })[status];

export const CONVERSATION_TONE: Record<ConversationStatus, Tone> = {
  open: 'info',
  pending: 'warn',
  snoozed: 'warn',
  resolved: 'good',
};

export const PRIORITIES: readonly Priority[] = ['none', 'low', 'medium', 'high', 'urgent'];

export const priorityName = (priority: Priority): string =>
  ({ none: t('No priority'), low: t('Low'), medium: t('Medium'), high: t('High'), urgent: t('Urgent') })[priority];

export type Source = Schemas['ConversationSource']['type'];

export const SOURCES: readonly Source[] = ['user', 'member', 'api'];

/** Who started a conversation. */
export const sourceName = (source: Source): string =>
  ({ user: t('The user'), member: t('The team'), api: t('The API') })[source];

export const keyStatus = (status: ApiKey['status']): string =>
  ({ active: t('Active'), rotating: t('Rotating'), expired: t('Expired'), revoked: t('Revoked') })[status];

export const KEY_TONE: Record<ApiKey['status'], Tone> = {
  active: 'good',
  rotating: 'warn',
  expired: 'neutral',
  revoked: 'neutral',
};

export const answerState = (state: Schemas['Answer']['state']): string =>
  ({ seen: t('Seen'), dismissed: t('Dismissed'), partial: t('Partial'), completed: t('Completed') })[state];

interface ChoiceValue {
  option_id?: string;
  option_ids?: string[];
  other_text?: string;
}

/** The part of a question that gives its options names. */
export interface Labeled {
  config: { options?: { id: string; label: string }[] } | Record<string, unknown>;
}

/** Formats an answer value; options by their labels if the question is given, and `other` as such. */
export function valueText(value: unknown, question?: Labeled): string {
  if (value === true) return t('Yes');
  if (value === false) return t('No');
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'string') return value;
  const { option_id, option_ids = [], other_text } = (value ?? {}) as ChoiceValue;
  const options = (question?.config.options ?? []) as { id: string; label: string }[];
  const labelOf = (id: string) => options.find(option => option.id === id)?.label ?? id;
  const chosen = [option_id, ...option_ids].filter(id => id !== undefined).map(labelOf);
  const other = other_text ? t('Other: {text}', { text: other_text }) : t('Other');
  return [...chosen, ...(other_text === undefined ? [] : [other])].join(', ');
}

const isWritten = (value: unknown): boolean =>
  typeof value === 'string' || Boolean((value as ChoiceValue | null | undefined)?.other_text);

/** Returns the text that a user has written for the question itself: the comment, else the value if it has a text. */
export const mainText = ({ comment, values }: Pick<Schemas['Answer'], 'comment' | 'values'>): string | undefined =>
  comment ?? (isWritten(values.main) ? valueText(values.main) : undefined);

/** Returns the first text that a user has written in an answer: for the question itself, else in a follow-up step. */
export const firstText = (answer: Pick<Schemas['Answer'], 'comment' | 'values'>): string =>
  mainText(answer) ?? valueText(Object.values(answer.values).find(isWritten) ?? answer.values.main);
