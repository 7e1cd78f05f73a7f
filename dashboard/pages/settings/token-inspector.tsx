import { useForm } from 'react-hook-form';
import { useAct } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Snippet } from '../../components/copy.tsx';
import { TextArea } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { Panel } from '../../components/page.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';

const InspectionResult = ({
  inspection: { valid, code, detail, header, claims },
}: {
  inspection: Schemas['Inspection'];
}) => (
  <div className="stack" role="status">
    <Note tone={valid ? 'good' : 'bad'}>
      <p>
        <strong>{valid ? t('The token is valid.') : t('The token is invalid.')}</strong>{' '}
        {code && (
          <a href={`/problems/${code}`} target="_blank" rel="noreferrer">
            {code}
          </a>
        )}
      </p>
      <p>{detail}</p>
    </Note>
    {header && <Snippet what={t('Header')} code={JSON.stringify(header, null, 2)} />}
    {claims && <Snippet what={t('Claims')} code={JSON.stringify(claims, null, 2)} />}
  </div>
);

/** Form that validates an access token and explains why it is rejected. */
export function TokenInspector() {
  const form = useForm({ defaultValues: { token: '' } });
  const inspect = useAct('POST /v1/auth/inspect');
  return (
    <Panel
      title={t('Token inspector')}
      lead={t('Paste a token to see why it is rejected. Tokens are checked but not stored.')}
    >
      <Form
        form={form}
        submitLabel={t('Inspect')}
        send={({ token }) => inspect.mutateAsync({ body: { token: token.trim() } })}
      >
        <TextArea
          form={form}
          name="token"
          label={t('Token')}
          rows={3}
          spellCheck={false}
          autoComplete="off"
          maxLength={20000}
          rules={{ required: true }}
        />
      </Form>
      {inspect.data && <InspectionResult inspection={inspect.data} />}
    </Panel>
  );
}
