import { toTypeId } from '../ids.ts';
import type { Placement } from '../rules/appearance.ts';
import { type CardRules, completeFrequency } from '../rules/card-rules.ts';
import type { QuestionContent, QuestionStatus } from './questions.ts';
import { versionChanges } from './version-changes.ts';

/** A stored question. */
export interface StoredQuestion extends QuestionContent, CardRules {
  id: string;
  name: string;
  status: QuestionStatus;
  version: number;
  /** The language of its own texts. */
  locale: string;
  priority: number;
  placement: Placement | null;
  created_at: Date;
  updated_at: Date;
  published_at: Date | null;
  closed_at: Date | null;
}

/** Returns a stored question as the API shows it. */
export const presentQuestion = (row: StoredQuestion) => ({
  id: toTypeId('question', row.id),
  name: row.name,
  status: row.status,
  version: row.version,
  type: row.type,
  title: row.title,
  description: row.description,
  config: row.config,
  follow_ups: row.follow_ups,
  locale: row.locale,
  translations: row.translations,
  audience: row.audience,
  schedule: { start_at: row.start_at, end_at: row.end_at },
  trigger: row.trigger,
  frequency: completeFrequency(row.frequency),
  sampling_percent: row.sampling_percent,
  response_limit: row.response_limit,
  allow_public: row.allow_public,
  priority: row.priority,
  thanks: row.thanks,
  placement: row.placement,
  created_at: row.created_at,
  updated_at: row.updated_at,
  published_at: row.published_at,
  closed_at: row.closed_at,
});

/** A stored version, with the content of the one before it. */
interface StoredVersion extends QuestionContent {
  question_id: string;
  version: number;
  created_at: Date;
  previous: QuestionContent | null;
}

/** Returns a stored version as the API shows it. */
export const presentVersion = ({ previous, question_id, ...version }: StoredVersion, locale: string) => ({
  question_id: toTypeId('question', question_id),
  ...version,
  locale,
  changes: previous ? versionChanges(previous, version) : [],
});
