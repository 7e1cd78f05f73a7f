import { useRef, useState } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { useApi } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Confirmation } from '../../components/dialog.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { Ready } from '../../components/page.tsx';
import { LOCALES, locale, t } from '../../i18n.ts';
import editor from './editor.module.css';
import { type QuestionValues, valuesOf } from './form.ts';
import styles from './templates.module.css';

type Template = Schemas['QuestionTemplate'];
type QuestionForm = UseFormReturn<QuestionValues>;

/** Puts a template into the form, which counts as edited then. */
function fill(form: QuestionForm, { question }: Template): void {
  const values = valuesOf(question as Schemas['Question']);
  for (const [name, value] of Object.entries(values))
    form.setValue(name as keyof QuestionValues, value as never, { shouldDirty: true });
  form.clearErrors();
  form.setFocus('title');
}

/** Applies a template; asks first if that would overwrite edits. */
function useTemplates(form: QuestionForm) {
  const [asked, setAsked] = useState<Template>();
  const applied = useRef('');
  const text = () => JSON.stringify(form.getValues());
  const apply = (template: Template) => {
    fill(form, template);
    applied.current = text();
  };
  const choose = (template: Template) =>
    form.formState.isDirty && text() !== applied.current ? setAsked(template) : apply(template);
  return { asked, apply, choose, cancel: () => setAsked(undefined) };
}

const Choices = ({ templates, choose }: { templates: Template[]; choose(template: Template): void }) => (
  <ul className={styles.templates}>
    {templates.map(template => (
      <li key={template.id}>
        <button type="button" className={styles.template} onClick={() => choose(template)}>
          <strong>{template.name}</strong>
          <span className="small quiet">{template.description}</span>
        </button>
      </li>
    ))}
  </ul>
);

/** Common questions from which a new one starts. */
export function Templates({ form }: { form: QuestionForm }) {
  const [language, setLanguage] = useState(locale());
  const query = useApi('GET /v1/question-templates', { query: { locale: language } });
  const { asked, apply, choose, cancel } = useTemplates(form);
  return (
    <details className={editor.more}>
      <summary>{t('Start from a template')}</summary>
      <div className="stack">
        <div>
          <Filter
            small
            label={t('Language of the templates')}
            value={language}
            onChange={event => setLanguage(event.target.value)}
          >
            {Object.entries(LOCALES).map(([tag, name]) => (
              <option key={tag} value={tag} lang={tag}>
                {name}
              </option>
            ))}
          </Filter>
        </div>
        <Ready query={query}>{({ data }) => <Choices templates={data} choose={choose} />}</Ready>
      </div>
      <Confirmation
        title={t('Replace your edits?')}
        isOpen={asked !== undefined}
        close={cancel}
        confirmLabel={t('Use template')}
        act={async () => asked && apply(asked)}
      >
        {t('The template replaces what you have entered so far.')}
      </Confirmation>
    </details>
  );
}
