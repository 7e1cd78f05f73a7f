import { useState } from 'react';
import { useAct, useApi } from '../../../api/hooks.ts';
import type { Tenant } from '../../../api/names.ts';
import { ApiProblem, type Contrast } from '../../../api/problem.ts';
import fields from '../../../components/fields/fields.module.css';
import { useSubmit } from '../../../components/fields/form.tsx';
import { useStoredForm } from '../../../components/fields/use-stored-form.ts';
import { useKeptEdits } from '../../../components/kept-edits.ts';
import { LeaveDialog, useLeaving } from '../../../components/leave-dialog.tsx';
import { Panel, Ready } from '../../../components/page.tsx';
import { Note } from '../../../components/problem-note.tsx';
import { Restored } from '../../../components/restored.tsx';
import { SaveBar } from '../../../components/save-bar.tsx';
import { toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';
import { stopGuarding } from '../../../leaving.ts';
import { useSession } from '../../../session.tsx';
import { SettingsFrame } from '../frame.tsx';
import styles from './appearance.module.css';
import { AppearanceFields } from './fields.tsx';
import { type AppearanceValues, appearanceOf, fieldNameOf, valuesOf } from './form.ts';
import { AppearancePreview } from './preview.tsx';

interface EditorProps {
  tenant: Tenant;
  etag: string | undefined;
}

/** The form of the appearance with its ways to save and to leave. */
function useEditor({ tenant, etag }: EditorProps) {
  const values = valuesOf(tenant.appearance);
  const form = useStoredForm<AppearanceValues>(values);
  const [contrasts, setContrasts] = useState<Contrast[]>([]);
  const { restored, drop } = useKeptEdits(form, {
    kind: 'appearance',
    id: tenant.id,
    base: JSON.stringify(tenant.appearance),
  });
  const leaving = useLeaving(form.formState.isDirty, drop);
  const patch = useAct('PATCH /v1/tenant');
  const reset = (to: AppearanceValues) => form.reset(to);
  const { submit, problem } = useSubmit(
    form,
    async typed => {
      setContrasts([]);
      try {
        const { appearance } = await patch.mutateAsync({ body: { appearance: appearanceOf(typed) }, ifMatch: etag });
        drop();
        stopGuarding();
        reset(valuesOf(appearance));
        toast(t('Saved'));
      } catch (error) {
        if (error instanceof ApiProblem) setContrasts(error.contrasts);
        throw error;
      }
    },
    fieldNameOf,
  );
  const discard = async () => {
    drop();
    reset(values);
  };
  return { form, contrasts, restored, leaving, submit, problem, discard };
}

/** Fields, preview and the bar with the ways to save. */
function Editor({ tenant, etag }: EditorProps) {
  const { form, contrasts, restored, leaving, submit, problem, discard } = useEditor({ tenant, etag });
  const { isDirty, isSubmitting } = form.formState;
  return (
    <div className={styles.editor}>
      <Panel>
        <form className={fields.form} noValidate onSubmit={event => void submit(event)}>
          {restored && <Restored {...restored} outdatedText={t('The appearance was changed since then.')} />}
          <AppearanceFields form={form} contrasts={contrasts} />
          {isDirty && (
            <SaveBar
              isDirty
              isPending={isSubmitting}
              problem={problem}
              discard={discard}
              discardText={t('The appearance stays as it was last saved.')}
              save={() => void submit()}
              saveLabel={t('Save changes')}
            />
          )}
        </form>
      </Panel>
      <AppearancePreview tenant={tenant} appearance={appearanceOf(form.watch())} />
      <LeaveDialog isOpen={leaving.isOpen} stay={leaving.stay} leave={leaving.leave} />
    </div>
  );
}

/** Settings, tab Appearance: theme, colors, font and placement of cards, with a preview. */
export function AppearanceSettings() {
  const tenant = useApi('GET /v1/tenant', {});
  const { may } = useSession();
  return (
    <SettingsFrame title={t('Settings')}>
      <Ready query={tenant}>
        {data =>
          may('tenant:write') ? (
            <Editor tenant={data} etag={tenant.etag} />
          ) : (
            <div className="stack">
              <Note>
                <p>{t('Your role has read-only access to the settings.')}</p>
              </Note>
              <AppearancePreview tenant={data} appearance={data.appearance} />
            </div>
          )
        }
      </Ready>
    </SettingsFrame>
  );
}
