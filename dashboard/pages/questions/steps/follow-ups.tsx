import { useState } from 'react';
import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import type { Schemas } from '../../../api/schema.ts';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useListFocus } from '../../../components/use-list-focus.ts';
import { t } from '../../../i18n.ts';
import editor from '../editor.module.css';
import type { QuestionValues } from '../form.ts';
import { FollowUp } from './follow-up.tsx';
import { comparedSteps, freeKey, MAX_FOLLOW_UPS, newFollowUp } from './step-values.ts';
import styles from './steps.module.css';

interface FollowUpsProps {
  form: UseFormReturn<QuestionValues>;
  /** The stored question; absent for a new one. */
  question?: Schemas['Question'];
}

/** The steps after the question itself: they are added, moved and removed here. */
export function FollowUps({ form, question }: FollowUpsProps) {
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: 'follow_ups', keyName: 'row' });
  const { list, focus } = useListFocus();
  const [announcement, announce] = useState('');
  const values = form.watch();
  const isDraft = question === undefined || question.status === 'draft';
  const published = new Set(isDraft ? [] : question.follow_ups.map(({ key }) => key));
  const add = () => {
    const steps = form.getValues('follow_ups');
    append(newFollowUp(freeKey(steps, isDraft ? 1 : question.version + 1)), { shouldFocus: false });
    focus('li:last-child [role=group] select');
  };
  const shift = (index: number, distance: 1 | -1) => {
    const { id } = form.getValues(`follow_ups.${index}`);
    move(index, index + distance);
    announce(t('Step {number} is now step {next}.', { number: index + 2, next: index + distance + 2 }));
    focus(`[data-step="${CSS.escape(id)}"]`);
  };
  const drop = (index: number) => {
    remove(index);
    announce(t('Step {number} was removed.', { number: index + 2 }));
    focus('[data-add]');
  };
  return (
    <div ref={list} className="stack">
      <h2 className={editor.legend}>{t('Follow-up steps')}</h2>
      <p className="small quiet">
        {t('Further steps on the same card, one after another. A step can depend on earlier answers.')}
      </p>
      <ol className={styles.steps}>
        {fields.map(({ row, id }, index) => (
          <FollowUp
            key={row}
            form={form}
            index={index}
            count={fields.length}
            isFixed={published.has(id)}
            steps={comparedSteps(values)}
            move={distance => shift(index, distance)}
            remove={() => drop(index)}
          />
        ))}
      </ol>
      <div>
        <Button small data-add="" isDisabled={fields.length >= MAX_FOLLOW_UPS} onPress={add}>
          <Icon name="plus" size={15} /> {t('Add step')}
        </Button>
      </div>
      <p className="hidden-text" role="status">
        {announcement}
      </p>
    </div>
  );
}
