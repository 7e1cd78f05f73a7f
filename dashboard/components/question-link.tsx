import { Link } from 'wouter';
import { useApi } from '../api/hooks.ts';
import type { Schemas } from '../api/schema.ts';
import { t } from '../i18n.ts';
import { pathTo } from '../paths.ts';

/** Returns the question of an answer; all rows share one cached response per question. */
export function useQuestion(id: string): Schemas['Question'] | undefined {
  return useApi('GET /v1/questions/{id}', { params: { id } }).data;
}

/** Links to the results of a question. */
export const QuestionLink = ({ id }: { id: string }) => (
  <Link href={pathTo('questionResults', { id })} className="wrap-anywhere" dir="auto">
    {useQuestion(id)?.name ?? t('Question')}
  </Link>
);
