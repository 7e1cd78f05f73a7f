import type { Schemas } from '../api/schema.ts';
import { valueText } from '../words.ts';
import styles from './given-values.module.css';

type Answer = Schemas['Answer'];
type Question = Schemas['Question'];

/** A value of a follow-up step with the step's text; with its key if the question does not have the step any more. */
export interface FollowUpValue {
  key: string;
  title: string;
  text: string;
}

/** Returns the values of an answer's follow-up steps: in the order of the question, then those of removed steps. */
export function followUpValues({ values }: Pick<Answer, 'values'>, question: Question | undefined): FollowUpValue[] {
  const steps = question?.follow_ups ?? [];
  const removed = Object.keys(values).filter(key => key !== 'main' && !steps.some(step => step.key === key));
  return [...steps.map(({ key }) => key), ...removed]
    .filter(key => Object.hasOwn(values, key))
    .map(key => {
      const step = steps.find(each => each.key === key);
      return { key, title: step?.title ?? key, text: valueText(values[key], step) };
    });
}

/** The values of an answer's follow-up steps, each with the step's text. */
export function GivenValues({ answer, question }: { answer: Pick<Answer, 'values'>; question: Question | undefined }) {
  const given = followUpValues(answer, question);
  if (given.length === 0) return null;
  return (
    <dl className={styles.values}>
      {given.map(({ key, title, text }) => (
        <div key={key}>
          <dt className="small quiet wrap-anywhere" dir="auto">
            {title}
          </dt>
          <dd className={styles.value} dir="auto">
            {text}
          </dd>
        </div>
      ))}
    </dl>
  );
}
