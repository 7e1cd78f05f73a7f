import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { api } from '../../../api/client.ts';
import { useAct } from '../../../api/hooks.ts';
import type { Schemas } from '../../../api/schema.ts';
import { useSubmit } from '../../../components/fields/form.tsx';
import { useStoredForm } from '../../../components/fields/use-stored-form.ts';
import { SaveBar } from '../../../components/save-bar.tsx';
import { toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';
import { useTenantId } from '../../../tenant.ts';
import { EntryList } from './entry-list.tsx';
import { RuleFields } from './rule-fields.tsx';
import { newRule, type RulesValues, ruleFieldOf, ruleOf, ruleValuesOf } from './rule-values.ts';
import { useWaitingQuestion, WaitingQuestion } from './waiting-question.tsx';

const MAX_RULES = 50;

function RuleList({ form }: { form: UseFormReturn<RulesValues> }) {
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: 'rules' });
  return (
    <EntryList
      entries={fields}
      maximum={MAX_RULES}
      addLabel={t('Add rule')}
      add={() => append(newRule(), { focusName: `rules.${fields.length}.name` })}
      heading={at => (
        <h3 className="wrap-anywhere" dir="auto">
          {`${at + 1}. ${form.watch(`rules.${at}.name`) || t('New rule')}`}
        </h3>
      )}
      name={at => t('rule {number}', { number: at + 1 })}
      inputs={at => <RuleFields form={form} at={at} />}
      move={move}
      remove={remove}
    />
  );
}

interface RulesFormProps {
  rules: Schemas['AssignmentRules'];
  etag: string | undefined;
}

/**
 * The assignment rules in order. They are saved together, unless somebody else has changed them meanwhile. If they match
 * conversations that wait already, it asks whether they apply to these.
 */
export function RulesForm({ rules, etag }: RulesFormProps) {
  const valuesOf = ({ data }: Schemas['AssignmentRules']): RulesValues => ({ rules: data.map(ruleValuesOf) });
  const form = useStoredForm(valuesOf(rules), { isList: true });
  const reset = (to: Schemas['AssignmentRules']) => form.reset(valuesOf(to));
  const tenantId = useTenantId();
  const put = useAct('PUT /v1/assignment-rules');
  const { question, ask } = useWaitingQuestion();
  const { submit, problem } = useSubmit(
    form,
    async typed => {
      const data = typed.rules.map(ruleOf);
      const { body: matches } = await api('POST /v1/assignment-rules/preview', { body: { data } }, tenantId);
      const apply = matches.count > 0 || matches.more ? await ask(matches) : 'waiting';
      if (!apply) return;
      const saved = await put.mutateAsync({ body: { data, apply }, ifMatch: etag });
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
      <WaitingQuestion question={question} />
    </form>
  );
}
