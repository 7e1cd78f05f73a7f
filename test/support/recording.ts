import { v7 } from 'uuid';
import type { AcceptedAnswer, AnswerState } from '../../src/domain/answers/answers.ts';
import { type Flush, recordAnswers } from '../../src/storage/answers/recording.ts';
import { findIngestionTotals, listQuarantined } from '../../src/storage/upkeep/ingestion.ts';
import type { TestDatabase } from './database.ts';

export interface Stored {
  id: string;
  tenant_id: string;
  identity: string;
  revision: number;
  state: AnswerState;
  comment: string | null;
  content_hash: string;
}

/** Records answers as the worker does, and reads the rows that result. */
export function recordingOf(database: TestDatabase) {
  const worker = database.storage('parley_worker');
  const app = database.storage();
  const flushOf = (...answers: AcceptedAnswer[]): Flush => ({ flush: v7(), answers });
  return {
    worker,
    app,
    flushOf,
    record: (...answers: AcceptedAnswer[]) => recordAnswers(worker, [flushOf(...answers)]),
    rowsOf: (tenantId: string) =>
      database.query<Stored>('select * from answers where tenant_id = $1 order by id', [tenantId]),
    totalsOf: async (tenantId: string) => (await findIngestionTotals(app.forTenant(tenantId), [])).totals,
    quarantineOf: async (tenantId: string) => (await listQuarantined(app.forTenant(tenantId), 100, null)).rows,
    cardRecordsOf: (tenantId: string) =>
      database.query<{ identity: string; shown_at: Date; dismissed_at: Date | null; answered_at: Date | null }>(
        'select * from card_records where tenant_id = $1 order by identity',
        [tenantId],
      ),
  };
}
