import type { EventActor } from '../webhooks/events.ts';
import type { PageQuery } from './types.ts';

/** Whose changes to list: those of the verified identity by default. */
export interface ProfileChangeQuery extends PageQuery {
  verified?: boolean;
}

/** A field of a profile with its values before and after a change, which are null if it was not set or has been removed since. */
export interface ChangedField {
  field: 'attribute' | 'locale' | 'platform' | 'app_version' | (string & {});
  /** Name of the attribute; null for other fields. */
  name: string | null;
  from: string | number | boolean | null;
  to: string | number | boolean | null;
}

/** Fields of a profile that changed together. */
export interface ProfileChange {
  /** Identifies the change among those of the user; the latest is the highest. */
  number: number;
  at: string;
  by: EventActor;
  changes: ChangedField[];
}
