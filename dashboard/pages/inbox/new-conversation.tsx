import { useRef } from 'react';
import { useForm } from 'react-hook-form';
import { useAct } from '../../api/hooks.ts';
import { TextArea, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { useKeptEdits } from '../../components/kept-edits.ts';
import { t } from '../../i18n.ts';
import { newId } from '../../new-id.ts';

/**
 * Form that starts a conversation with a user. Submitting twice creates one conversation. The text is kept when the
 * dialog is closed.
 */
export function NewConversation({ done }: { done(id: string): void }) {
  const form = useForm({ defaultValues: { identity: '', subject: '', message: '' } });
  const client_message_id = useRef(newId()).current;
  const { drop } = useKeptEdits(form, { kind: 'conversation', id: 'new', base: undefined });
  const create = useAct('POST /v1/conversations');
  return (
    <Form
      form={form}
      submitLabel={t('Send')}
      send={async ({ identity, subject, message }) => {
        const body = { identity, message, client_message_id, ...(subject ? { subject } : {}) };
        const { id } = await create.mutateAsync({ body });
        drop();
        done(id);
      }}
    >
      <TextInput
        form={form}
        name="identity"
        autoFocus
        label={t('User')}
        hint={t('The identity in your tokens, such as user|42.')}
        maxLength={256}
        rules={{ required: true }}
      />
      <TextInput form={form} name="subject" label={t('Subject')} maxLength={200} />
      <TextArea form={form} name="message" label={t('Message')} maxLength={10_000} rules={{ required: true }} />
    </Form>
  );
}
