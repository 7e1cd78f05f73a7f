import { useState } from 'react';
import { type UseFormReturn, useForm } from 'react-hook-form';
import { useAct, useApi } from '../../../api/hooks.ts';
import { Button } from '../../../components/button.tsx';
import { SelectInput, TextArea, TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { useKeptEdits } from '../../../components/kept-edits.ts';
import { MemberOptions } from '../../../components/member-options.tsx';
import { Ready } from '../../../components/page.tsx';
import { Restored } from '../../../components/restored.tsx';
import { toast } from '../../../components/toast.tsx';
import { fieldErrorText } from '../../../field-errors.ts';
import { t } from '../../../i18n.ts';
import { useMembers } from '../../../use-members.ts';
import { type ConversationStatus, conversationStatus, type Priority, priorityName } from '../../../words.ts';
import { fieldText } from '../../inbox/custom-values.ts';
import { FieldDialog } from '../../inbox/field-dialog.tsx';
import { spanText } from '../../inbox/macros/change-texts.ts';
import { recallFault } from '../../inbox/macros/recall.ts';
import { useChangeNames } from '../../inbox/macros/use-change-names.ts';
import type { Macro } from '../../inbox/macros/use-macros.ts';
import { useCustomFields } from '../../inbox/use-custom-fields.ts';
import { type MacroValues, macroOf, NOBODY, SPANS, valuesOf } from './macro-values.ts';

const STATUSES: ConversationStatus[] = ['open', 'pending', 'snoozed', 'resolved'];
const PRIORITIES: Priority[] = ['none', 'low', 'medium', 'high', 'urgent'];
const EXAMPLE = '{{identity.attributes.plan|your plan}}';

type MacroForm = UseFormReturn<MacroValues>;

const checkVariables = (body: unknown): string | true => {
  const fault = recallFault(String(body));
  return fault ? fieldErrorText(fault) : true;
};

const Text = ({ form }: { form: MacroForm }) => (
  <>
    <TextInput form={form} name="name" autoFocus label={t('Name')} maxLength={120} rules={{ required: true }} />
    <TextInput
      form={form}
      name="shortcut"
      label={t('Shortcut')}
      hint={t('Typed after “/” while writing: a-z, 0-9 and “-”.')}
      maxLength={30}
    />
    <SelectInput form={form} name="kind" label={t('Used as')}>
      <option value="reply">{t('Reply to the user')}</option>
      <option value="note">{t('Internal note')}</option>
    </SelectInput>
    <TextArea
      form={form}
      name="body"
      label={t('Text')}
      hint={t('Can contain attributes of the user with a fallback, such as {example}.', {
        example: EXAMPLE,
      })}
      maxLength={10_000}
      rules={{ validate: checkVariables }}
    />
  </>
);

function Assignee({ form }: { form: MacroForm }) {
  const { assignable } = useMembers();
  const chosen = form.watch('changes.assignee_id');
  return (
    <SelectInput
      form={form}
      name="changes.assignee_id"
      key={assignable.length} // a new list of options would lose the value
      label={t('Assignee')}
    >
      <option value="">{t('Unchanged')}</option>
      <option value={NOBODY}>{t('Unassigned')}</option>
      <MemberOptions members={assignable} chosen={chosen === NOBODY ? undefined : chosen} />
    </SelectInput>
  );
}

interface CustomChangesProps {
  form: MacroForm;
  /** Whether the tenant has fields that the macro does not set. */
  hasOthers: boolean;
  askForField(): void;
}

/** The custom fields that the macro sets. */
function CustomChanges({ form, hasOthers, askForField }: CustomChangesProps) {
  const { labelOf } = useChangeNames();
  const entries = Object.entries(form.watch('changes.custom'));
  if (entries.length === 0 && !hasOthers) return null;
  const remove = (key: string) =>
    form.setValue('changes.custom', Object.fromEntries(entries.filter(([other]) => other !== key)), {
      shouldDirty: true,
    });
  return (
    <fieldset>
      <legend>{t('Fields')}</legend>
      {entries.map(([key, value]) => (
        <div key={key} className="spread">
          <span className="wrap-anywhere">{fieldText(labelOf(key), value)}</span>
          <Button
            small
            look="quiet"
            aria-label={t('Remove {field}', { field: labelOf(key) })}
            onPress={() => remove(key)}
          >
            {t('Remove')}
          </Button>
        </div>
      ))}
      {hasOthers && (
        <Button small onPress={askForField}>
          {t('Add field')}
        </Button>
      )}
    </fieldset>
  );
}

function Changes({ form, ...custom }: CustomChangesProps) {
  const { status, snooze_for_s } = form.watch('changes');
  const spans = [...new Set([...SPANS, Number(snooze_for_s)])].toSorted((one, other) => one - other);
  return (
    <>
      <div>
        <h3>{t('Changes')}</h3>
        <p className="small quiet">{t('A saved reply with changes shows them before it is sent.')}</p>
      </div>
      <SelectInput form={form} name="changes.status" label={t('Status')}>
        <option value="">{t('Unchanged')}</option>
        {STATUSES.map(name => (
          <option key={name} value={name}>
            {conversationStatus(name)}
          </option>
        ))}
      </SelectInput>
      {status === 'snoozed' && (
        <SelectInput form={form} name="changes.snooze_for_s" label={t('Snooze for')}>
          {spans.map(seconds => (
            <option key={seconds} value={seconds}>
              {spanText(seconds)}
            </option>
          ))}
        </SelectInput>
      )}
      <Assignee form={form} />
      <SelectInput form={form} name="changes.priority" label={t('Priority')}>
        <option value="">{t('Unchanged')}</option>
        {PRIORITIES.map(name => (
          <option key={name} value={name}>
            {priorityName(name)}
          </option>
        ))}
      </SelectInput>
      <TextInput form={form} name="changes.add_tags" label={t('Add tags')} hint={t('Separated by commas.')} />
      <TextInput form={form} name="changes.remove_tags" label={t('Remove tags')} hint={t('Separated by commas.')} />
      <CustomChanges form={form} {...custom} />
    </>
  );
}

function Fields({ macro, etag, done }: { macro?: Macro; etag?: string | undefined; done(): void }) {
  const form = useForm<MacroValues>({ defaultValues: valuesOf(macro) });
  const { restored, drop } = useKeptEdits(form, { kind: 'macro', id: macro?.id ?? 'new', base: etag });
  const create = useAct('POST /v1/macros');
  const patch = useAct('PATCH /v1/macros/{id}');
  const [isAsking, setAsking] = useState(false);
  const definitions = useCustomFields();
  const custom = form.watch('changes.custom');
  const others = definitions.filter(({ key }) => !Object.hasOwn(custom, key));
  const send = async (values: MacroValues) => {
    const body = macroOf(values);
    if (macro) await patch.mutateAsync({ params: { id: macro.id }, body, ifMatch: etag });
    else await create.mutateAsync({ body });
    drop();
    toast(t('Saved'));
    done();
  };
  return (
    <>
      <Form form={form} submitLabel={t('Save')} send={send}>
        {restored && <Restored {...restored} outdatedText={t('The saved reply was changed since then.')} />}
        <Text form={form} />
        <Changes form={form} hasOthers={others.length > 0} askForField={() => setAsking(true)} />
      </Form>
      <FieldDialog // beside the form, which its own form would submit too
        isOpen={isAsking}
        close={() => setAsking(false)}
        definitions={others}
        submitLabel={t('Add field')}
        apply={({ key }, value) => {
          setAsking(false);
          form.setValue('changes.custom', { ...custom, [key]: value }, { shouldDirty: true });
        }}
      />
    </>
  );
}

/** Form for a new saved reply. */
export const NewMacro = ({ done }: { done(): void }) => <Fields done={done} />;

/** Form for a saved reply, loaded with its entity tag. */
export function EditMacro({ id, done }: { id: string; done(): void }) {
  const query = useApi('GET /v1/macros/{id}', { params: { id } });
  return <Ready query={query}>{macro => <Fields macro={macro} etag={query.etag} done={done} />}</Ready>;
}
