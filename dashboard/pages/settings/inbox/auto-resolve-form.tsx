import { useAct } from '../../../api/hooks.ts';
import type { Tenant } from '../../../api/names.ts';
import { NumberInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { useStoredForm } from '../../../components/fields/use-stored-form.ts';
import { toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';

/** After how many days a conversation that waits for its user is resolved. */
export function AutoResolveForm({ tenant, etag }: { tenant: Tenant; etag: string | undefined }) {
  const { auto_resolve_days } = tenant;
  const form = useStoredForm({ auto_resolve_days });
  const patch = useAct('PATCH /v1/tenant');
  return (
    <Form
      form={form}
      submitLabel={t('Save changes')}
      send={async body => {
        await patch.mutateAsync({ body, ifMatch: etag });
        toast(t('Saved'));
      }}
    >
      <NumberInput
        form={form}
        name="auto_resolve_days"
        min={1}
        max={365}
        optional
        label={t('Days without a message')}
        hint={t('Only conversations that wait for the user are resolved. Leave empty to resolve none.')}
      />
    </Form>
  );
}
