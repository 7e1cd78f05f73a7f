import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useLocation } from 'wouter';
import { useAct } from '../../../api/hooks.ts';
import type { Webhook, WebhookWithSecret } from '../../../api/names.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmButton, Dialog } from '../../../components/dialog.tsx';
import { Choices } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';
import { pathTo } from '../../../paths.ts';
import { GracePeriodInput } from '../grace-period.tsx';
import { EditWebhookForm } from './webhook-forms.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

/** Form that rotates the secret. Requests are signed with both secrets for a grace period. */
function RotateForm({ webhook, done }: { webhook: Webhook; done(webhook: WebhookWithSecret): void }) {
  const form = useForm({ defaultValues: { overlap_hours: 24 } });
  const rotate = useAct('POST /v1/webhooks/{id}/rotate-secret');
  return (
    <Form
      form={form}
      submitLabel={t('Rotate')}
      send={async body => done(await rotate.mutateAsync({ params: { id: webhook.id }, body }))}
    >
      <p>
        {t(
          'A new secret is created. During the grace period each request has a signature of both, so you can change your receiver.',
        )}
      </p>
      <GracePeriodInput form={form} />
    </Form>
  );
}

/** Form that enables a webhook again, where it stood or from now on. */
function EnableForm({ webhook, done }: { webhook: Webhook; done(): void }) {
  const form = useForm<{ resume: 'continue' | 'now' }>({ defaultValues: { resume: 'continue' } });
  const patch = useAct('PATCH /v1/webhooks/{id}');
  return (
    <Form
      form={form}
      submitLabel={t('Enable')}
      send={async ({ resume }) => {
        await patch.mutateAsync({ params: { id: webhook.id }, body: { status: 'enabled', resume } });
        toast(t('Webhook enabled.'));
        done();
      }}
    >
      <Choices
        form={form}
        name="resume"
        label={t('Which events are sent?')}
        choices={[
          {
            value: 'continue',
            label: t('Those since it was disabled'),
            hint: t('Continues where it stood, up to 30 days back'),
          },
          { value: 'now', label: t('Only new ones'), hint: t('Skips the events since then') },
        ]}
      />
    </Form>
  );
}

function DisableButton({ webhook: { id } }: { webhook: Webhook }) {
  const patch = useAct('PATCH /v1/webhooks/{id}');
  return (
    <ConfirmButton
      label={t('Disable')}
      title={t('Disable the webhook?')}
      confirmLabel={t('Disable')}
      act={() => patch.mutateAsync({ params: { id }, body: { status: 'disabled' } })}
    >
      {t('No events are sent until you enable it again. They are kept for 30 days, so none is lost until then.')}
    </ConfirmButton>
  );
}

function DeleteButton({ webhook: { id } }: { webhook: Webhook }) {
  const remove = useAct('DELETE /v1/webhooks/{id}');
  const [, go] = useLocation();
  return (
    <ConfirmButton
      label={t('Delete')}
      title={t('Delete the webhook?')}
      confirmLabel={t('Delete')}
      act={async () => {
        await remove.mutateAsync({ params: { id } });
        go(pathTo('webhooks'), { replace: true });
        toast(t('Webhook deleted.'));
      }}
    >
      {t('Its secret is deleted, and its deliveries can no longer be read. This cannot be undone.')}
    </ConfirmButton>
  );
}

/** Buttons and dialogs that change a webhook. */
export function WebhookActions({ webhook, etag }: { webhook: Webhook; etag: string | undefined }) {
  const [task, begin] = useState<'edit' | 'rotate' | 'enable'>();
  const [rotated, setRotated] = useState<WebhookWithSecret>();
  const close = () => begin(undefined);
  return (
    <>
      <div className="row">
        <Button onPress={() => begin('edit')}>{t('Edit')}</Button>
        <Button onPress={() => begin('rotate')}>{t('Rotate secret')}</Button>
        {webhook.status === 'enabled' ? (
          <DisableButton webhook={webhook} />
        ) : (
          <Button look="primary" onPress={() => begin('enable')}>
            {t('Enable')}
          </Button>
        )}
        <DeleteButton webhook={webhook} />
      </div>
      <Dialog title={t('Edit webhook')} isOpen={task === 'edit'} close={close} dismissable={false}>
        <EditWebhookForm webhook={webhook} etag={etag} done={close} />
      </Dialog>
      <Dialog title={t('Rotate secret')} isOpen={task === 'rotate'} close={close}>
        <RotateForm
          webhook={webhook}
          done={changed => {
            close();
            setRotated(changed);
          }}
        />
      </Dialog>
      <Dialog title={t('Enable webhook')} isOpen={task === 'enable'} close={close}>
        <EnableForm webhook={webhook} done={close} />
      </Dialog>
      {rotated?.secret && (
        <WebhookSecret webhook={{ ...rotated, secret: rotated.secret }} close={() => setRotated(undefined)} />
      )}
    </>
  );
}
