import type { UseFormReturn } from 'react-hook-form';
import type { Schemas } from '../../api/schema.ts';
import { CheckInput, Choices, NumberInput, SelectInput, TextArea, TextInput } from '../../components/fields/fields.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { type QuestionType, questionTypes, typeHint, typeName } from '../../words.ts';
import { ConfigFields } from './config.tsx';
import styles from './editor.module.css';
import type { QuestionValues } from './form.ts';
import { Languages } from './languages/languages.tsx';
import { PlacementField } from './placement.tsx';
import { FollowUps } from './steps/follow-ups.tsx';
import { Templates } from './templates.tsx';
import { ThanksFields } from './thanks/thanks.tsx';

type Question = Schemas['Question'];
type QuestionForm = UseFormReturn<QuestionValues>;

/** Frequency and priority; the defaults suit most questions. */
const Frequency = ({ form }: { form: QuestionForm }) => (
  <>
    <SelectInput form={form} name="frequency.repeat" label={t('Repeat')}>
      <option value="until_answered">{t('Until answered')}</option>
      <option value="once">{t('Once (even if not answered)')}</option>
      <option value="always">{t('Always (several answers per user)')}</option>
    </SelectInput>
    <NumberInput
      form={form}
      name="frequency.snooze_after_dismiss_days"
      min={0}
      max={365}
      label={t('Days until shown again after a dismissal')}
    />
    <CheckInput
      form={form}
      name="frequency.ignore_cooldown"
      label={t('Ignore the minimum time between questions')}
      hint={t('Other questions do not delay this one, and it does not delay them.')}
    />
    <NumberInput
      form={form}
      name="priority"
      min={0}
      max={1000}
      label={t('Priority')}
      hint={t('When several questions are due, the one with the highest priority is shown first.')}
    />
  </>
);

/** Whether the question is published; its type, scale and set of options then stay unchanged. */
export const isFixed = (question: Question | undefined): boolean =>
  question !== undefined && question.status !== 'draft';

/** Selectable types; a published question keeps its own. */
const typesOf = (question: Question | undefined): QuestionType[] =>
  question && isFixed(question) ? [question.type] : questionTypes();

/** The fields of a question. */
export const QuestionFields = ({ form, question }: { form: QuestionForm; question?: Question }) => (
  <>
    {question && isFixed(question) && (
      <Note>
        <p>
          {t(
            'Publishing changes of the visible text creates version {next}. The type, scale and set of options cannot be changed.',
            { next: question.version + 1 },
          )}
        </p>
      </Note>
    )}
    {!question && <Templates form={form} />}
    <Choices
      form={form}
      name="type"
      label={t('Type')}
      disabled={isFixed(question)}
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
    <ConfigFields form={form} at="" type={form.watch('type')} isFixed={isFixed(question)} />
    <FollowUps form={form} question={question} />
    <ThanksFields form={form} />
    <Languages form={form} isFixed={isFixed(question)} />
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
    <PlacementField form={form} />
    <details className={styles.more}>
      <summary>{t('Frequency and priority')}</summary>
      <div className="stack">
        <Frequency form={form} />
      </div>
    </details>
  </>
);
