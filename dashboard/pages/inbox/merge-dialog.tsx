import { useForm } from 'react-hook-form';
import { useLocation } from 'wouter';
import { useAct, useApi } from '../../api/hooks.ts';
import { Choices } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { Ready } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { formatRelative, t } from '../../i18n.ts';
import { conversationStatus } from '../../words.ts';
import type { Conversation } from './conversation-changes.ts';

/** Conversations of the user that are offered: those with the latest activity. */
const OFFERED = 50;

const titleOf = ({ subject, last_message }: Conversation): string => subject || last_message.preview;

function MergeForm({ id, others, done }: { id: string; others: Conversation[]; done(into: string): void }) {
  const form = useForm({ defaultValues: { into: others[0]?.id ?? '' } });
  const merge = useAct('POST /v1/conversations/{id}/merge');
  return (
    <Form
      form={form}
      submitLabel={t('Merge')}
      send={async ({ into }) => {
        await merge.mutateAsync({ params: { id }, body: { into } });
        done(into);
      }}
    >
      <p>
        {t(
          'This conversation is resolved, and later messages of the user are added to the other one. Its messages stay here. A merge cannot be undone.',
        )}
      </p>
      <Choices
        form={form}
        name="into"
        label={t('Merge into')}
        choices={others.map(other => ({
          value: other.id,
          label: (
            <span className="wrap-anywhere" dir="auto">
              {titleOf(other)}
            </span>
          ),
          hint: `${conversationStatus(other.status)} · ${formatRelative(other.last_activity_at)}`,
        }))}
      />
    </Form>
  );
}

interface MergeProps {
  conversation: Conversation;
  close(): void;
  /** Returns the address of a conversation in the inbox. */
  addressOf(id: string): string;
}

/** Merges a conversation into another one of the same user, and opens that. */
export function Merge({ conversation: { id, identity, identity_verified: verified }, close, addressOf }: MergeProps) {
  const query = useApi('GET /v1/conversations', { query: { identity, verified, limit: OFFERED } });
  const [, go] = useLocation();
  const done = (into: string) => {
    close();
    go(addressOf(into));
    toast(t('The conversations are merged'));
  };
  return (
    <Ready query={query}>
      {({ data }) => {
        const others = data.filter(other => other.id !== id && other.merged_into_id === null);
        return others.length > 0 ? (
          <MergeForm id={id} others={others} done={done} />
        ) : (
          <p>{t('The user has no other conversation.')}</p>
        );
      }}
    </Ready>
  );
}
