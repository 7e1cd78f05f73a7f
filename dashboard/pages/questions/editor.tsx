import { useForm } from 'react-hook-form';
import { useLocation, useParams } from 'wouter';
import { etagOf } from '../../api/client.ts';
import { useAct, useApi } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { CardPreview } from '../../components/card-preview.tsx';
import { CheckInput, Choices, SelectInput, TextArea, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { Page, Panel, Ready } from '../../components/page.tsx';
import { Note } from '../../components/problem-note.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { PATHS, pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import { type QuestionType, questionTypes, typeHint, typeName } from '../../words.ts';
import { ConfigFields } from './config.tsx';
import styles from './editor.module.css';
import { bodyOf, configOf, EMPTY_QUESTION, type QuestionValues, valuesOf } from './form.ts';
import { QuestionFrame } from './frame.tsx';

type Question = Schemas['Question'];

interface EditorProps {
  values: QuestionValues;
  /** Absent for a new question. */
  question?: Question;
  save(values: QuestionValues): Promise<unknown>;
}

/** Frequency and priority; the defaults suit most questions. */
const Frequency = ({ form }: { form: ReturnType<typeof useForm<QuestionValues>> }) => (
  <>
    <SelectInput form={form} name="frequency.repeat" label={t('Repeat')}>
      <option value="until_answered">{t('Until answered')}</option>
      <option value="once">{t('Once (even if not answered)')}</option>
      <option value="always">{t('Always (several answers per user)')}</option>
    </SelectInput>
    <TextInput
      form={form}
      name="frequency.snooze_after_dismiss_days"
      type="number"
      min={0}
      max={365}
      label={t('Days until shown again after a dismissal')}
      rules={{ valueAsNumber: true }}
    />
    <CheckInput
      form={form}
      name="frequency.ignore_cooldown"
      label={t('Ignore the minimum time between questions')}
      hint={t('Other questions do not delay this one, and it does not delay them.')}
    />
    <TextInput
      form={form}
      name="priority"
      type="number"
      min={0}
      max={1000}
      label={t('Priority')}
      hint={t('When several questions are due, the one with the highest priority is shown first.')}
      rules={{ valueAsNumber: true }}
    />
  </>
);

/** Selectable types; a published question keeps its own. */
const typesOf = (question: Question | undefined): QuestionType[] =>
  question && question.status !== 'draft' ? [question.type] : questionTypes();

function Editor({ values, question, save }: EditorProps) {
  const form = useForm<QuestionValues>({ values, resetOptions: { keepDirtyValues: true } });
  const seen = form.watch();
  const isFixed = question !== undefined && question.status !== 'draft';
  return (
    <div className={styles.editor}>
      <Panel>
        <Form form={form} send={save} submitLabel={question ? t('Save changes') : t('Create draft')}>
          {isFixed && (
            <Note>
              <p>
                {t(
                  'Saving changes to the visible text creates version {next}. The type, scale and set of options cannot be changed.',
                  {
                    next: question.version + 1,
                  },
                )}
              </p>
            </Note>
          )}
          <Choices
            form={form}
            name="type"
            label={t('Type')}
            disabled={isFixed}
            choices={typesOf(question).map(type => ({ value: type, label: typeName(type), hint: typeHint(type) }))}
          />
          <TextInput
            form={form}
            name="title"
            label={t('Question')}
            hint={t('The text your users see.')}
            maxLength={300}
            rules={{ required: true }}
          />
          <TextArea
            form={form}
            name="description"
            label={t('Description')}
            hint={t('Optional text below the question.')}
            maxLength={1000}
            rows={2}
          />
          <ConfigFields form={form} isFixed={isFixed} />
          <TextInput
            form={form}
            name="name"
            label={t('Name')}
            hint={t('Visible only to your team. Defaults to the question text.')}
            maxLength={120}
          />
          <CheckInput
            form={form}
            name="allow_public"
            label={t('Show in apps that use a public key')}
            hint={t('Users of these apps are not verified. Their answers are marked as unverified.')}
          />
          <details className={styles.more}>
            <summary>{t('Frequency and priority')}</summary>
            <div className="stack">
              <Frequency form={form} />
            </div>
          </details>
        </Form>
      </Panel>
      <aside className={styles.preview} aria-label={t('Preview')}>
        <h2>{t('Preview')}</h2>
        <CardPreview
          type={seen.type}
          title={seen.title}
          description={seen.description}
          config={configOf(seen.type, seen.config)}
        />
      </aside>
    </div>
  );
}

/** Page that creates a draft. */
export function NewQuestion() {
  const create = useAct('POST /v1/questions');
  const [, go] = useLocation();
  const save = async (values: QuestionValues) => {
    const question = await create.mutateAsync({ body: bodyOf(values) as Schemas['QuestionInput'] });
    toast(t('Draft created. Publish it when it is ready.'));
    go(pathTo('question', { id: question.id }));
  };
  return (
    <Page title={t('New question')} back={{ href: PATHS.questions, label: t('Questions') }}>
      <Editor values={EMPTY_QUESTION} save={save} />
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
    <CardPreview {...question} />
  </div>
);

/** Page that edits a question. */
export function EditQuestion() {
  const { id = '' } = useParams();
  const query = useApi('GET /v1/questions/{id}', { params: { id } });
  const patch = useAct('PATCH /v1/questions/{id}');
  const { may } = useSession();
  const save = (question: Question) => async (values: QuestionValues) => {
    await patch.mutateAsync({ params: { id }, body: bodyOf(values), ifMatch: etagOf(question) });
    toast(t('Saved'));
  };
  return (
    <QuestionFrame id={id} question={query.data}>
      <Ready query={query}>
        {question =>
          isEditable(question) && may('questions:write') ? (
            <Editor values={valuesOf(question)} question={question} save={save(question)} />
          ) : (
            <ReadOnlyQuestion question={question} />
          )
        }
      </Ready>
    </QuestionFrame>
  );
}
