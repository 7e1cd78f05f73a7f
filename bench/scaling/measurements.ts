import type { AnswerBytes } from './bytes.ts';
import type { ListeningCost } from './listening.ts';
import type { ReadCost } from './reads.ts';
import type { FormationCost, RestCost } from './replicas.ts';
import type { Serial } from './serial.ts';

/** Everything that a run has measured. */
export interface Measurements {
  started_at: Date | string;
  machine: string;
  stores: string;
  load: string;
  /** CPU µs of a request to bare Koa, before and after: how fast the machine was. */
  koaMicros: number[];
  formations: FormationCost[];
  listening: ListeningCost[];
  rest: RestCost[];
  serial: Serial;
  bytes: AnswerBytes;
  reads: ReadCost[];
}
