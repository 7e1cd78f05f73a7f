import type { UseFormReturn } from 'react-hook-form';
import type { Schemas } from '../../api/schema.ts';
import { Choices, TextArea, TextInput } from '../../components/fields/fields.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { type QuestionType, questionTypes, typeHint, typeName } from '../../words.ts';
import { ConfigFields } from './config.tsx';
import type { QuestionValues } from './form.ts';
import { Languages } from './languages/languages.tsx';
import { PlacementField } from './placement.tsx';
import { HowMany } from './rules/how-many.tsx';
import { Reach } from './rules/reach.tsx';
import { When } from './rules/when.tsx';
import { Who } from './rules/who.tsx';
import { FollowUps } from './steps/follow-ups.tsx';
import { Templates } from './templates.tsx';
import { ThanksFields } from './thanks/thanks.tsx';

type Question = Schemas['Question'];
type QuestionForm = UseFormReturn<QuestionValues>;

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
    <PlacementField form={form} />
    <Who form={form} />
    <When form={form} />
    <HowMany form={form} />
    {question && <Reach form={form} question={question} />}
  </>
);
