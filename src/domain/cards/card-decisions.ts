import { z } from 'zod';
import { int32, LATER_EXAMPLE } from '../documented.ts';
import { typeIdOut } from '../ids.ts';
import { AudienceInput } from '../rules/audiences.ts';
import { SamplingPercent } from '../rules/card-rules.ts';
import { TimestampOut } from '../text.ts';
import { GATES, type GateVerdict } from './decisions.ts';

const GateName = z.enum(GATES).meta({ description: 'In the order in which they are evaluated' });

const GateDecision = z
  .object({
    gate: GateName,
    passed: z.boolean(),
    passes_at: TimestampOut.nullable().meta({
      description:
        'The time from which it passes if nothing else changes; null if it passes now, or never by time alone',
    }),
  })
  .meta({ id: 'GateDecision' });

const CardDecision = z
  .object({
    question_id: typeIdOut('question'),
    name: z.string().meta({ example: 'NPS' }),
    shown: z.boolean().meta({ description: 'Whether all gates pass. A card with a trigger then waits for its event' }),
    gates: z.array(GateDecision).meta({ example: [{ passed: true }, { gate: 'cooldown', passes_at: LATER_EXAMPLE }] }),
  })
  .meta({ id: 'CardDecision' });

/** Which questions a person sees, and why not the others. */
export const CardDecisions = z
  .object({ identity: z.string(), verified: z.boolean(), data: z.array(CardDecision) })
  .meta({ id: 'CardDecisions', example: { identity: 'user|42', verified: true } });

/** Maximum number of people whose cards an estimate decides. */
export const MAX_JUDGED = 5000;

export const ReachRequest = z
  .strictObject({ audience: AudienceInput.nullable(), sampling_percent: SamplingPercent })
  .partial()
  .meta({ id: 'ReachRequest', description: 'Rules to evaluate instead of those of the question' });

/** The number of people whom a question would reach now. */
export const Reach = z
  .object({
    judged: int32().meta({ description: 'Number of people evaluated', example: 5000 }),
    reached: int32().meta({ example: 612 }),
    withheld: z.record(z.string(), int32()).meta({
      description: 'Number of other people by the first gate that fails',
      example: { frequency: 1204, sampling: 3184 },
    }),
  })
  .meta({ id: 'Reach' });

/** The last time that RFC 3339 can express. An attribute with a day such as 9999-12-31 leads to later ones. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Returns a verdict as the API shows it. */
export const presentVerdict = ({ gate, passed, changesAt }: GateVerdict) => ({
  gate,
  passed,
  passes_at: passed || changesAt === null || changesAt > LAST_TIME ? null : new Date(changesAt),
});
