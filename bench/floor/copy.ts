import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';

const COLUMNS = `tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
  "values", comment, displayed_at, answered_at, duration_ms, metadata, content_hash, clock_skew_ms, tags, received_at,
  stored_at, updated_at`;
const LINES_A_CHUNK = 500;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

const field = (value: string | number | boolean | null): string =>
  value === null ? '\\N' : String(value).replaceAll(/[\\\t\n\r]/g, found => ESCAPES[found] as string);

const line = (answer: AcceptedAnswer, storedAt: string): string =>
  `${[
    answer.tenant_id,
    answer.id,
    answer.identity,
    answer.identity_verified,
    answer.card_id,
    answer.question_id,
    answer.question_version,
    answer.revision,
    answer.state,
    JSON.stringify(answer.values),
    answer.comment,
    answer.displayed_at,
    answer.answered_at,
    answer.duration_ms,
    JSON.stringify(answer.metadata),
    answer.content_hash,
    answer.clock_skew_ms,
    '{}',
    answer.received_at,
    storedAt,
    storedAt,
  ]
    .map(field)
    .join('\t')}\n`;

function* lines(answers: AcceptedAnswer[]): Generator<string> {
  const storedAt = new Date().toISOString();
  for (let first = 0; first < answers.length; first += LINES_A_CHUNK)
    yield answers
      .slice(first, first + LINES_A_CHUNK)
      .map(answer => line(answer, storedAt))
      .join('');
}

/** The floor of storing: copies the same rows as text in one COPY into a table with the same columns and indexes. */
export async function copyAnswers(databaseUrl: string, answers: AcceptedAnswer[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await pipeline(Readable.from(lines(answers)), client.query(copyFrom(`copy floor.answers (${COLUMNS}) from stdin`)));
  } finally {
    await client.end();
  }
}
