import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { etagOf } from '../../api/client.ts';
import { useAct } from '../../api/hooks.ts';
import type { Tenant } from '../../api/names.ts';
import { Confirmation } from '../../components/dialog.tsx';
import { Choices, TextArea, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';

interface Values {
  retention: Tenant['retention'];
  ip_mode: Tenant['ip_mode'];
  /** One a line. */
  identity_attributes_allowed: string;
}

/** A number of days; an empty field means for ever. */
const daysOf = (value: unknown): number | null => (value === '' || value === null ? null : Number(value));

const linesOf = (text: string): string[] => [...new Set(text.split(/\s+/).filter(Boolean))];

/** What the API takes as the name of an attribute. */
const isName = (name: string): boolean => /^[A-Za-z0-9_.-]{1,64}$/.test(name);

const isShorter = (before: number | null, after: number | null): boolean =>
  after !== null && (before === null || after < before);

/** Whether there may be something that is deleted as soon as this is saved. */
const deletes = (before: Tenant['retention'], after: Tenant['retention']): boolean =>
  isShorter(before.answers_days, after.answers_days) || isShorter(before.conversations_days, after.conversations_days);

/** How long things are kept, and what is known of users: asks before anything is deleted by it. */
export function PrivacyForm({ tenant }: { tenant: Tenant }) {
  const { retention, ip_mode, identity_attributes_allowed } = tenant;
  const form = useForm<Values>({
    values: { retention, ip_mode, identity_attributes_allowed: identity_attributes_allowed.join('\n') },
    resetOptions: { keepDirtyValues: true },
  });
  const [asked, setAsked] = useState<Values>();
  const patch = useAct('PATCH /v1/tenant');
  const save = async ({ identity_attributes_allowed: names, ...values }: Values) => {
    const body = { ...values, identity_attributes_allowed: linesOf(names) };
    await patch.mutateAsync({ body, ifMatch: etagOf(tenant) });
    toast(t('Saved'));
  };
  const days = { type: 'number', min: 1, max: 3650, placeholder: t('For ever') } as const;
  const rules = { setValueAs: daysOf };
  return (
    <>
      <Form
        form={form}
        submitLabel={t('Save')}
        send={async values => (deletes(retention, values.retention) ? setAsked(values) : save(values))}
      >
        <TextInput
          form={form}
          name="retention.answers_days"
          {...days}
          label={t('Days for which answers are kept')}
          hint={t('Older ones are deleted for good; the results of your questions stay. Empty: for ever.')}
          rules={rules}
        />
        <TextInput
          form={form}
          name="retention.conversations_days"
          {...days}
          label={t('Days for which resolved conversations are kept')}
          hint={t('Counted from their end. Open ones are never deleted. Empty: for ever.')}
          rules={rules}
        />
        <TextArea
          form={form}
          name="identity_attributes_allowed"
          rows={3}
          label={t('Attributes that your app may set')}
          hint={t('Names, one a line, such as plan. All others are for your backend alone.')}
          rules={{
            validate: text =>
              linesOf(text as string).every(isName) || t('A name has at most 64 letters, digits, dots, dashes or _.'),
          }}
        />
        <Choices
          form={form}
          name="ip_mode"
          label={t('Addresses of your team in the audit log')}
          choices={[
            { value: 'none', label: t('Not kept'), hint: t('The default') },
            { value: 'truncated', label: t('Shortened'), hint: t('Without the last part') },
            { value: 'full', label: t('Kept whole'), hint: t('Say so to your team') },
          ]}
        />
      </Form>
      <Confirmation
        title={t('Delete what is older?')}
        confirmLabel={t('Save and delete')}
        isOpen={asked !== undefined}
        close={() => setAsked(undefined)}
        act={async () => asked && save(asked)}
      >
        {t(
          'What is older than the days that you chose is deleted within minutes. This can’t be undone. The results of your questions stay.',
        )}
      </Confirmation>
    </>
  );
}
