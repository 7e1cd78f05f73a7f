import { z } from 'zod';
import { EXAMPLE_TIME } from '../documented.ts';
import { toTypeId, typeIdOut } from '../ids.ts';
import { TimestampOut } from '../text.ts';
import { AcceptedAnswer, EXAMPLE_SYNC } from './answers.ts';

/**
 * The tenant of canary answers. It has no row, so it is never listed and cannot have keys, and its id is not a UUIDv7,
 * so no tenant can be created with it.
 */
export const CANARY_TENANT_ID = '00000000-0000-8000-8000-000000000001';

const count = (description: string, example: number) => z.int().min(0).meta({ description, example });

/** The state of a tenant's answers. At rest accepted = stored + repeated + quarantined + queued. */
export const Ingestion = z
  .object({
    oldest_queued_age_ms: z.int().nullable().meta({ description: 'null if the queue is empty', example: 12 }),
    queued: count('Answers in the queue: waiting, active or delayed', 3),
    accepted: count('Answers accepted into the queue, in total', 120_403),
    stored: count('Syncs that created or changed an answer', 119_880),
    repeated: count('Syncs that were already stored', 519),
    quarantined: count('Syncs that could not be stored; quarantined, or discarded by the team', 1),
    rejected: count('Items rejected on receipt; updated within seconds', 7),
    first_card_at: TimestampOut.nullable().meta({
      description: 'Time at which a card was first fetched for a user of the tenant; null before',
      example: EXAMPLE_TIME,
    }),
  })
  .meta({ id: 'Ingestion' });

export const QuarantinedAnswer = z
  .object({
    id: typeIdOut('quarantine'),
    answer_id: z.uuid(),
    reason: z.string().meta({
      description:
        '`revision-conflict`: the revision was stored with different content; `unstorable`: rejected by the database; `unprocessable`: Parley failed to process it; `key-revoked`: received more than 60 s after its API key was revoked or expired',
      example: 'revision-conflict',
    }),
    detail: z.string().meta({ example: 'The revision was stored with different content.' }),
    payload: z.record(z.string(), z.unknown()).meta({
      description: 'Answer as accepted',
      example: { ...EXAMPLE_SYNC, identity: 'user|42', identity_verified: true },
    }),
    quarantined_at: TimestampOut,
  })
  .meta({ id: 'QuarantinedAnswer' });

/** Returns a quarantine entry as clients see it: ids in wire form, without internal tenant fields. */
export function presentQuarantined<Row extends { id: string; payload: string }>({ id, payload, ...row }: Row) {
  const {
    tenant_id: _,
    question_id,
    card_id,
    key_id,
    key_overlap_until: __,
    ...sync
  } = JSON.parse(payload) as AcceptedAnswer;
  return {
    id: toTypeId('quarantine', id),
    ...row,
    payload: {
      ...sync,
      question_id: toTypeId('question', question_id),
      card_id: toTypeId('card', card_id),
      ...(key_id === undefined ? {} : { key_id: toTypeId('key', key_id) }),
    },
  };
}

/**
 * Returns the sync of an entry for the queue. A payload that cannot be parsed is a bug, since Parley wrote it.
 *
 * The key is left out: whoever replays an answer vouches for it.
 */
export function replayOf({ id, payload }: { id: string; payload: string }): AcceptedAnswer {
  const { key_id: _, key_overlap_until: __, ...sync } = AcceptedAnswer.parse(JSON.parse(payload));
  return { ...sync, replay_of: id };
}
