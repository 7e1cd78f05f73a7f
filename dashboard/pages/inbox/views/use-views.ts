import { useApi, useList } from '../../../api/hooks.ts';
import { formatNumber } from '../../../i18n.ts';

/** At most 50 views of one's own, and as many shared ones. */
const MAX_VIEWS = 100;
const COUNTED_EVERY_MS = 10_000;

/** All counts come with one request. */
export type Counts = Record<string, { count: number; more: boolean }>;

/** The saved views that the member sees, oldest first. */
export const useViews = () => useList('GET /v1/views', {}, { limit: MAX_VIEWS });

/** Returns the number of conversations of each view, by the view's address. */
export const useCounts = (): Counts =>
  useApi('GET /v1/conversations/counts', {}, { everyMs: COUNTED_EVERY_MS }).data?.views ?? {};

/** Returns a count as a text: exact, or “1,000+” where counting ended. */
export const countText = ({ count, more }: Counts[string]): string => `${formatNumber(count)}${more ? '+' : ''}`;
