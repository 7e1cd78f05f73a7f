import { type FormEvent, useRef, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { useAct, useApi } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Schemas } from '../../api/schema.ts';
import fields from '../../components/fields/fields.module.css';
import { setFieldErrors, useSubmit } from '../../components/fields/form.tsx';
import { useStoredForm } from '../../components/fields/use-stored-form.ts';
import { useKeptEdits } from '../../components/kept-edits.ts';
import { LeaveDialog, useLeaving } from '../../components/leave-dialog.tsx';
import { Page, Panel, Ready } from '../../components/page.tsx';
import { Note } from '../../components/problem-note.tsx';
import { Restored } from '../../components/restored.tsx';
import { SaveBar } from '../../components/save-bar.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { stopGuarding } from '../../leaving.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import { changesFor } from './changes.ts';
import { PublishDialog } from './dialogs.tsx';
import styles from './editor.module.css';
import { QuestionFields } from './fields.tsx';
import { bodyOf, cardTextOf, EMPTY_QUESTION, fieldNameOf, type QuestionValues, valuesOf } from './form.ts';
import { QuestionFrame } from './frame.tsx';
import { Preview } from './preview.tsx';

type Question = Schemas['Question'];

interface EditorProps {
  /** Absent for a new question. */
  question?: Question;
  /** Creates or updates the question. */
  save(values: QuestionValues): Promise<Question>;
  /** Runs after a save, for example to open the page of a new question. */
  saved?(question: Question): void;
}

/** The success of a publication; a question that starts later is not live yet. */
function publishedText(isFirst: boolean, { status }: Question): string {
  if (status === 'scheduled') return t('The question is scheduled.');
  return isFirst ? t('The question is live.') : t('The changes are live.');
}

/** The form of a question with its ways to save: as it is, and with publishing, which saves first. */
function useEditor({ question, save, saved }: EditorProps) {
  const values = question ? valuesOf(question) : EMPTY_QUESTION;
  const form = useStoredForm<QuestionValues>(values);
  const { isDirty } = form.formState;
  const { restored, drop } = useKeptEdits(form, {
    kind: 'question',
    id: question?.id ?? 'new',
    base: question?.updated_at,
  });
  const leaving = useLeaving(isDirty, drop);
  const [isPublishing, setPublishing] = useState(false);
  const publish = useAct('POST /v1/questions/{id}/publish');
  const isDraft = question === undefined || question.status === 'draft';
  const store = async (): Promise<Question> => {
    const stored = isDirty || !question ? await save(form.getValues()) : question;
    drop();
    stopGuarding();
    form.reset(valuesOf(stored));
    return stored;
  };
  const saveOnly = async () => {
    const stored = await store();
    toast(question ? t('Saved') : t('Draft created. Publish it when it is ready.'));
    saved?.(stored);
  };
  const { submit, problem } = useSubmit(form, saveOnly, fieldNameOf);
  const { submit: askToPublish } = useSubmit(form, async () => setPublishing(true));
  const publishNow = async () => {
    const stored = await store();
    const live = isDraft ? await publish.mutateAsync({ params: { id: stored.id } }) : stored;
    toast(publishedText(isDraft, live));
    saved?.(live);
  };
  /** Faults are shown at their fields, which are behind the dialog. */
  const tryToPublish = async () => {
    try {
      await publishNow();
    } catch (error) {
      if (!(error instanceof ApiProblem) || !setFieldErrors(form, error, fieldNameOf)) throw error;
    }
  };
  const discard = async () => {
    drop();
    form.reset(values);
  };
  const publishing = { isOpen: isPublishing, close: () => setPublishing(false), act: tryToPublish };
  return { form, values, restored, leaving, publishing, isDraft, submit, askToPublish, discard, problem };
}

/** Focuses the first field with an error. Waits for the dialog, which restores the focus when it has closed. */
const focusFault = (form: HTMLFormElement | null) =>
  requestAnimationFrame(() =>
    requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()),
  );

/** Form, preview and the bar with the ways to save. */
function Editor(props: EditorProps) {
  const { question } = props;
  const { form, values, restored, leaving, publishing, isDraft, submit, askToPublish, discard, problem } =
    useEditor(props);
  const seen = form.watch();
  const { isDirty } = form.formState;
  const node = useRef<HTMLFormElement>(null);
  const isLive = question?.status === 'live';
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void (isLive ? askToPublish() : submit());
  };
  return (
    <div className={styles.editor}>
      <Panel>
        <form ref={node} className={fields.form} noValidate onSubmit={onSubmit}>
          {restored && <Restored {...restored} outdatedText={t('The question was changed since then.')} />}
          <QuestionFields form={form} question={question} />
          {(isDraft || isDirty) && (
            <SaveBar
              isDirty={isDirty}
              isNew={!question}
              isPending={form.formState.isSubmitting}
              problem={problem}
              discard={discard}
              discardText={t('The question stays as it was last saved.')}
              save={isLive ? undefined : () => void submit()}
              saveLabel={isDraft ? t('Save draft') : t('Save changes')}
              publish={isDraft || isLive ? () => void askToPublish() : undefined}
            />
          )}
        </form>
      </Panel>
      <Preview question={question} edited={isDirty || !question ? cardTextOf(seen) : undefined} />
      <PublishDialog
        {...publishing}
        closed={() => focusFault(node.current)}
        isFirst={isDraft}
        changes={changesFor(isDraft ? undefined : values, seen)}
      />
      <LeaveDialog isOpen={leaving.isOpen} stay={leaving.stay} leave={leaving.leave} />
    </div>
  );
}

/** Page that creates a draft. */
export function NewQuestion() {
  const create = useAct('POST /v1/questions');
  const patch = useAct('PATCH /v1/questions/{id}');
  const [, go] = useLocation();
  /** The draft of an earlier attempt, which could be saved but not published. */
  const draft = useRef<Question>(undefined);
  const save = async (values: QuestionValues) => {
    const body = bodyOf(values) as Schemas['QuestionInput'];
    draft.current = draft.current
      ? await patch.mutateAsync({ params: { id: draft.current.id }, body })
      : await create.mutateAsync({ body });
    return draft.current;
  };
  return (
    <Page title={t('New question')} back={{ href: pathTo('questions'), label: t('Questions') }}>
      <Editor save={save} saved={({ id }) => go(pathTo('question', { id }), { replace: true })} />
    </Page>
  );
}

const isEditable = ({ status }: Question): boolean => status !== 'closed' && status !== 'archived';

/** Read-only view, for closed questions and for members without write permission. */
const ReadOnlyQuestion = ({ question }: { question: Question }) => (
  <div className={styles.editor}>
    <Note>
      <p>
        {isEditable(question)
          ? t('Your role has read-only access to questions.')
          : t('Closed questions cannot be edited. Clone the question to continue from here.')}
      </p>
    </Note>
    <Preview question={question} />
  </div>
);

/** Page that edits a question. */
export function EditQuestion() {
  const { id = '' } = useParams();
  const query = useApi('GET /v1/questions/{id}', { params: { id } });
  const patch = useAct('PATCH /v1/questions/{id}');
  const { may } = useSession();
  const save = (values: QuestionValues) =>
    patch.mutateAsync({
      params: { id },
      body: bodyOf(values) as Schemas['QuestionPatch'],
      ifMatch: query.etag,
    });
  return (
    <QuestionFrame id={id} question={query.data}>
      <Ready query={query}>
        {question =>
          isEditable(question) && may('questions:write') ? (
            <Editor key={id} question={question} save={save} />
          ) : (
            <ReadOnlyQuestion question={question} />
          )
        }
      </Ready>
    </QuestionFrame>
  );
}
