import type { AnswerBytes } from './bytes.ts';
import type { ListeningCost } from './listening.ts';
import type { ReadCost } from './reads.ts';
import type { FormationCost, RestCost } from './replicas.ts';
import type { Serial } from './serial.ts';

/** All results of a run. */
export interface Measurements {
  started_at: Date | string;
  machine: string;
  stores: string;
  load: string;
  /** CPU µs of a request to bare Koa, before and after: the speed of the machine. */
  koaMicros: number[];
  formations: FormationCost[];
  listening: ListeningCost[];
  rest: RestCost[];
  serial: Serial;
  bytes: AnswerBytes;
  reads: ReadCost[];
}
