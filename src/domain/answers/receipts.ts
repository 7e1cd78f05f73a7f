import { z } from 'zod';
import { EXAMPLE_UUID } from '../ids.ts';

const ReceiptStatus = z.enum(['accepted', 'duplicate', 'superseded', 'rejected']);

/** Reasons for rejecting an item of a sync. */
const REJECTIONS = [
  'validation-failed',
  'invalid-value',
  'unknown-card',
  'unknown-version',
  'question-closed',
  'revision-conflict',
  'answer-deleted',
] as const;
export type Rejection = (typeof REJECTIONS)[number];

const SENT = 'As in the request; null if the item had none';

const Receipt = z
  .object({
    id: z.string().nullable().meta({ description: SENT, example: EXAMPLE_UUID }),
    revision: z.int().nullable().meta({ description: SENT, example: 1 }),
    status: ReceiptStatus,
    code: z.enum(REJECTIONS).optional().meta({ description: 'Only if `rejected`: the reason' }),
    detail: z.string().optional().meta({ description: 'Only if `rejected`: an explanation for developers' }),
    pointer: z.string().optional().meta({ description: 'Only if `rejected`: JSON pointer into the item (RFC 6901)' }),
  })
  .meta({ id: 'Receipt' });
export type Receipt = z.infer<typeof Receipt>;

const rejected = {
  ...{ id: '01936d5e-8f00-7000-8000-000000000002', status: 'rejected', code: 'invalid-value' },
  ...{ detail: 'must be an integer from 0 to 10', pointer: '/values/main' },
};

/** The outcome of each item of a sync, in order. */
export const Receipts = z
  .object({ results: z.array(Receipt).meta({ example: [{}, rejected] }) })
  .meta({ id: 'Receipts' });
