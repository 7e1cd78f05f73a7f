import type { Schemas } from '../../../api/schema.ts';

type Thanks = Schemas['Thanks'];

/** The thanks of a question in the editor; without any text, the default of the client is shown. */
export interface ThanksValues {
  title: string;
  body: string;
  link: { label: string; url: string };
}

export const EMPTY_THANKS: ThanksValues = { title: '', body: '', link: { label: '', url: '' } };

/** Editor values of stored thanks. */
export const thanksValuesOf = (thanks: Thanks | null | undefined): ThanksValues => ({
  title: thanks?.title ?? '',
  body: thanks?.body ?? '',
  link: { ...EMPTY_THANKS.link, ...thanks?.link },
});

const hasLink = ({ link }: ThanksValues): boolean => Boolean(link.label || link.url);

/** Whether any of the fields has a text, so that the title is required. */
export const hasThanks = (thanks: ThanksValues): boolean => Boolean(thanks.title || thanks.body) || hasLink(thanks);

/** Returns the thanks as the API expects them; null: the default of the client. */
export const thanksOf = (thanks: ThanksValues): Thanks | null =>
  hasThanks(thanks) ? { ...thanks, link: hasLink(thanks) ? thanks.link : null } : null;
