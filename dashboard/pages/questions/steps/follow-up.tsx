import { useEffect, useId, useState } from 'react';
import { get, type UseFormReturn } from 'react-hook-form';
import { CheckInput, SelectInput, TextArea, TextInput } from '../../../components/fields/fields.tsx';
import { MoveButtons } from '../../../components/move-buttons.tsx';
import { t } from '../../../i18n.ts';
import { questionTypes, typeName } from '../../../words.ts';
import { ConfigFields } from '../config.tsx';
import { useFaultFocus } from '../fault-focus.ts';
import type { QuestionValues } from '../form.ts';
import type { ComparedStep } from './conditions.ts';
import { ShowIf } from './show-if.tsx';
import { showIfText } from './step-values.ts';
import styles from './steps.module.css';

interface FollowUpProps {
  form: UseFormReturn<QuestionValues>;
  /** Position among the follow-ups. */
  index: number;
  /** The number of follow-ups. */
  count: number;
  /** Whether the step is published; its key, type, scale and options then stay unchanged. */
  isFixed: boolean;
  steps: ComparedStep[];
  move(distance: 1 | -1): void;
  remove(): void;
}

/** The fields of a step. */
function StepFields({ form, index, isFixed, steps }: Omit<FollowUpProps, 'count' | 'move' | 'remove'>) {
  const at = `follow_ups.${index}.` as const;
  const type = form.watch(`${at}type`);
  return (
    <>
      <SelectInput form={form} name={`${at}type`} label={t('Type')} disabled={isFixed}>
        {questionTypes().map(name => (
          <option key={name} value={name}>
            {typeName(name)}
          </option>
        ))}
      </SelectInput>
      <TextInput
        form={form}
        name={`${at}title`}
        label={t('Text of the step')}
        maxLength={300}
        rules={{ required: true }}
      />
      <TextArea form={form} name={`${at}description`} label={t('Description')} maxLength={1000} rows={2} />
      <ConfigFields form={form} at={at} type={type} isFixed={isFixed} />
      {type !== 'statement' && (
        <CheckInput
          form={form}
          name={`${at}required`}
          label={t('Required')}
          hint={t('Users cannot skip the step when it is shown.')}
        />
      )}
      <ShowIf form={form} index={index} steps={steps} />
      <TextInput
        form={form}
        name={`${at}key`}
        label={t('Key')}
        hint={t('Name of the step in the API.')}
        maxLength={64}
        readOnly={isFixed}
        rules={{ required: true }}
      />
    </>
  );
}

/** Opens a step when it has errors, and then focuses the first of them. */
function useOpen(form: UseFormReturn<QuestionValues>, index: number) {
  const [isOpen, setOpen] = useState(() => form.getValues(`follow_ups.${index}.title`) === '');
  const body = useFaultFocus(isOpen);
  const errors = get(form.formState.errors, `follow_ups.${index}`);
  const hidesErrors = Boolean(errors) && !isOpen;
  useEffect(() => {
    if (hidesErrors) setOpen(true);
  }, [hidesErrors]);
  return { body, isOpen, toggle: () => setOpen(!isOpen) };
}

/** A step after the question itself: a summary with its actions, and its fields below. */
export function FollowUp(props: FollowUpProps) {
  const { form, index, count, steps, move, remove } = props;
  const id = useId();
  const { body, isOpen, toggle } = useOpen(form, index);
  const step = form.watch(`follow_ups.${index}`);
  const number = index + 2;
  return (
    <li className={styles.step}>
      <div className={styles.head}>
        <button
          type="button"
          className={styles.summary}
          data-step={step.id}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={toggle}
        >
          <strong className="wrap-anywhere" dir="auto">
            {`${number}. ${step.title || t('New step')}`}
          </strong>
          <span className="small quiet wrap-anywhere">
            {[
              typeName(step.type),
              step.match !== 'always' && t('Shown if {condition}', { condition: showIfText(step, steps) }),
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
        </button>
        <div className={styles.actions}>
          <MoveButtons name={t('step {number}', { number })} at={index} count={count} move={move} remove={remove} />
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that repeats the summary */}
      <div
        ref={body}
        id={id}
        role="group"
        aria-label={t('Step {number}', { number })}
        className={styles.fields}
        hidden={!isOpen}
      >
        <StepFields {...props} />
      </div>
    </li>
  );
}
