import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { useAct } from '../../../api/hooks.ts';
import type { Schemas } from '../../../api/schema.ts';
import { Button } from '../../../components/button.tsx';
import { useSubmit } from '../../../components/fields/form.tsx';
import { Icon } from '../../../components/icon.tsx';
import { SaveBar } from '../../../components/save-bar.tsx';
import { toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';
import styles from './inbox-settings.module.css';
import { MoveButtons } from './move-buttons.tsx';
import { RuleFields } from './rule-fields.tsx';
import { newRule, type RulesValues, ruleFieldOf, ruleOf, ruleValuesOf } from './rule-values.ts';
import { useEntries } from './use-entries.ts';
import { useListForm } from './use-list-form.ts';

const MAX_RULES = 50;

function RuleList({ form }: { form: UseFormReturn<RulesValues> }) {
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: 'rules' });
  const { list, announcement, shift, drop } = useEntries({ move, remove });
  return (
    <div ref={list} className="stack">
      <ol className={styles.entries}>
        {fields.map(({ id }, at) => (
          <li key={id} className={styles.entry}>
            <div className="spread">
              <h3 className="wrap-anywhere" dir="auto">
                {at + 1}. {form.watch(`rules.${at}.name`) || t('New rule')}
              </h3>
              <MoveButtons
                name={t('rule {number}', { number: at + 1 })}
                at={at}
                count={fields.length}
                move={by => shift(at, by)}
                remove={() => drop(at)}
              />
            </div>
            <RuleFields form={form} at={at} />
          </li>
        ))}
      </ol>
      <div>
        <Button
          small
          data-add=""
          isDisabled={fields.length >= MAX_RULES}
          onPress={() => append(newRule(), { focusName: `rules.${fields.length}.name` })}
        >
          <Icon name="plus" size={15} /> {t('Add rule')}
        </Button>
      </div>
      <p className="hidden-text" role="status">
        {announcement}
      </p>
    </div>
  );
}

interface RulesFormProps {
  rules: Schemas['AssignmentRules'];
  etag: string | undefined;
}

/** The assignment rules in order. They are saved together, unless somebody else has changed them meanwhile. */
export function RulesForm({ rules, etag }: RulesFormProps) {
  const valuesOf = ({ data }: Schemas['AssignmentRules']): RulesValues => ({ rules: data.map(ruleValuesOf) });
  const form = useListForm(valuesOf(rules));
  const reset = (to: Schemas['AssignmentRules']) => form.reset(valuesOf(to));
  const put = useAct('PUT /v1/assignment-rules');
  const { submit, problem } = useSubmit(
    form,
    async typed => {
      const saved = await put.mutateAsync({ body: { data: typed.rules.map(ruleOf) }, ifMatch: etag });
      reset(saved);
      toast(t('Saved'));
    },
    ruleFieldOf,
  );
  return (
    <form className="stack" noValidate onSubmit={event => void submit(event)}>
      <RuleList form={form} />
      {form.formState.isDirty && (
        <SaveBar
          isDirty
          isPending={form.formState.isSubmitting}
          problem={problem}
          discard={async () => reset(rules)}
          discardText={t('The rules stay as they were last saved.')}
          save={() => void submit()}
          saveLabel={t('Save rules')}
        />
      )}
    </form>
  );
}
