import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment, text, uuid } from './columns.ts';

export const QuarantinedAnswerEntity = defineEntity({
  name: 'QuarantinedAnswer',
  tableName: 'quarantined_answers',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    answer_id: uuid(),
    reason: text(),
    detail: text(),
    payload: text(),
    quarantined_at: moment(),
  },
  indexes: [{ name: 'quarantined_answers_newest', properties: ['tenant_id', 'quarantined_at', 'id'] }],
});

const total = () => p.bigint('number');

export const IngestionTotalEntity = defineEntity({
  name: 'IngestionTotal',
  tableName: 'ingestion_totals',
  properties: {
    tenant_id: uuid().primary(),
    stored: total(),
    repeated: total(),
    quarantined: total(),
    rejected: total(),
  },
});

export const RecordedFlushEntity = defineEntity({
  name: 'RecordedFlush',
  tableName: 'recorded_flushes',
  properties: { id: uuid().primary(), recorded_at: moment(), in_parts: p.boolean().default(false) },
  indexes: [{ name: 'recorded_flushes_oldest', properties: ['recorded_at'] }],
});

export const FlushProducerEntity = defineEntity({
  name: 'FlushProducer',
  tableName: 'flush_producers',
  properties: {
    id: uuid().primary(),
    written: p.bigint(),
    settled: p.bigint(),
    voided: p.array<string>().columnType('bigint[]'),
    held: p.array<string>().columnType('bigint[]'),
    claimed_at: moment(),
    open_since: moment().defaultRaw('now()'),
  },
});

export const LostFlushEntity = defineEntity({
  name: 'LostFlush',
  tableName: 'lost_flushes',
  properties: { id: uuid().primary(), found_at: moment() },
});

export const VanishedAnswerEntity = defineEntity({
  name: 'VanishedAnswer',
  tableName: 'vanished_answers',
  properties: { tenant_id: uuid().primary(), id: uuid().primary(), vanished_at: moment() },
});
