import { useState } from 'react';
import { useAct } from '../../api/hooks.ts';
import type { Tenant } from '../../api/names.ts';
import { Confirmation } from '../../components/dialog.tsx';
import { Choices, TextArea, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { useStoredForm } from '../../components/fields/use-stored-form.ts';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';

interface Values {
  retention: Tenant['retention'];
  ip_mode: Tenant['ip_mode'];
  /** One per line. */
  identity_attributes_allowed: string;
}

/** Number of days, or null (forever) for an empty field. */
const daysOf = (value: unknown): number | null => (value === '' || value === null ? null : Number(value));

const linesOf = (text: string): string[] => [...new Set(text.split(/\s+/).filter(Boolean))];

/** Whether the API accepts it as an attribute name. */
const isName = (name: string): boolean => /^[A-Za-z0-9_.-]{1,64}$/.test(name);

const isShorter = (before: number | null, after: number | null): boolean =>
  after !== null && (before === null || after < before);

/** Whether the new retention is shorter, so that saving it may delete data. */
const deletes = (before: Tenant['retention'], after: Tenant['retention']): boolean =>
  isShorter(before.answers_days, after.answers_days) || isShorter(before.conversations_days, after.conversations_days);

/** Retention and privacy settings. Asks for confirmation before a shorter retention is saved. */
export function PrivacyForm({ tenant, etag }: { tenant: Tenant; etag: string | undefined }) {
  const { retention, ip_mode, identity_attributes_allowed } = tenant;
  const form = useStoredForm<Values>({
    retention,
    ip_mode,
    identity_attributes_allowed: identity_attributes_allowed.join('\n'),
  });
  const [unconfirmed, setUnconfirmed] = useState<Values>();
  const patch = useAct('PATCH /v1/tenant');
  const save = async ({ identity_attributes_allowed: names, ...values }: Values) => {
    const body = { ...values, identity_attributes_allowed: linesOf(names) };
    await patch.mutateAsync({ body, ifMatch: etag });
    toast(t('Saved'));
  };
  const days = { type: 'number', min: 1, max: 3650, placeholder: t('Forever') } as const;
  const rules = { setValueAs: daysOf };
  return (
    <>
      <Form
        form={form}
        submitLabel={t('Save changes')}
        send={async values => (deletes(retention, values.retention) ? setUnconfirmed(values) : save(values))}
      >
        <TextInput
          form={form}
          name="retention.answers_days"
          {...days}
          label={t('Keep answers for (days)')}
          hint={t(
            'Older answers are permanently deleted; question results are kept. Leave empty to keep answers forever.',
          )}
          rules={rules}
        />
        <TextInput
          form={form}
          name="retention.conversations_days"
          {...days}
          label={t('Keep resolved conversations for (days)')}
          hint={t(
            'Counted from when they were resolved. Open conversations are never deleted. Leave empty to keep them forever.',
          )}
          rules={rules}
        />
        <TextArea
          form={form}
          name="identity_attributes_allowed"
          rows={3}
          label={t('Attributes that apps can set')}
          hint={t('One name per line, such as plan. All other attributes can be set only by your backend.')}
          rules={{
            validate: text =>
              linesOf(text as string).every(isName) ||
              t('Names can contain up to 64 letters, digits, dots, hyphens and underscores.'),
          }}
        />
        <Choices
          form={form}
          name="ip_mode"
          label={t('IP addresses in the audit log')}
          choices={[
            { value: 'none', label: t('Not stored'), hint: t('Default') },
            { value: 'truncated', label: t('Truncated'), hint: t('Last part removed') },
            { value: 'full', label: t('Full'), hint: t('Inform your team about this') },
          ]}
        />
      </Form>
      <Confirmation
        title={t('Delete older data?')}
        confirmLabel={t('Save and delete')}
        isOpen={unconfirmed !== undefined}
        close={() => setUnconfirmed(undefined)}
        act={async () => unconfirmed && save(unconfirmed)}
      >
        {t(
          'Data older than the retention period is deleted within minutes. This cannot be undone. Question results are kept.',
        )}
      </Confirmation>
    </>
  );
}
