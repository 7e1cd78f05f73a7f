import { useApi } from '../../../api/hooks.ts';
import { Panel, Ready } from '../../../components/page.tsx';
import { Note } from '../../../components/problem-note.tsx';
import { t } from '../../../i18n.ts';
import { useSession } from '../../../session.tsx';
import { SettingsFrame } from '../frame.tsx';
import { AutoResolveForm } from './auto-resolve-form.tsx';
import { CustomFieldsForm } from './custom-fields-form.tsx';
import { ReplyForm } from './reply-form.tsx';
import { RulesForm } from './rules-form.tsx';

/** The panels of the page, for those who can change settings. */
function Panels() {
  const tenant = useApi('GET /v1/tenant', {});
  const rules = useApi('GET /v1/assignment-rules', {});
  return (
    <>
      <Panel
        title={t('Assignment rules')}
        lead={t(
          'The first rule that matches decides about an open conversation without an assignee. Members who are away or have reached their capacity get no more.',
        )}
      >
        <Ready query={rules}>{data => <RulesForm rules={data} etag={rules.etag} />}</Ready>
      </Panel>
      <Panel
        title={t('Reply times')}
        lead={t('When a reply is due. Overdue conversations are marked in the inbox and can be filtered.')}
      >
        <Ready query={tenant}>{data => <ReplyForm tenant={data} etag={tenant.etag} />}</Ready>
      </Panel>
      <Panel title={t('Automatic resolution')} lead={t('Conversations in which the user no longer writes.')}>
        <Ready query={tenant}>{data => <AutoResolveForm tenant={data} etag={tenant.etag} />}</Ready>
      </Panel>
      <Panel
        title={t('Custom fields')}
        lead={t('Details of a conversation that only the team sees, such as an order number.')}
      >
        <Ready query={tenant}>{data => <CustomFieldsForm tenant={data} etag={tenant.etag} />}</Ready>
      </Panel>
    </>
  );
}

/** Settings, tab Inbox: assignment rules, reply targets, office hours, automatic resolution and custom fields. */
export function InboxSettings() {
  const { may } = useSession();
  return (
    <SettingsFrame title={t('Settings')}>
      {may('tenant:write') ? (
        <Panels />
      ) : (
        <Note>
          <p>{t('Your role has read-only access to the settings.')}</p>
        </Note>
      )}
    </SettingsFrame>
  );
}
