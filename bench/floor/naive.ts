/** A job of the naive design: one answer. */
export interface NaiveAnswer {
  tenant_id: string;
  id: string;
  identity: string;
  card_id: string;
  question_id: string;
  values: unknown;
  received_at: string;
}

export const NAIVE_QUEUE = 'naive';
