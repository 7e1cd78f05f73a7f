import { useState } from 'react';
import type { FieldError, UseFormReturn } from 'react-hook-form';
import { Button } from '../../../components/button.tsx';
import fields from '../../../components/fields/fields.module.css';
import { Filter, SelectInput } from '../../../components/fields/fields.tsx';
import { Icon } from '../../../components/icon.tsx';
import { t } from '../../../i18n.ts';
import editor from '../editor.module.css';
import type { QuestionValues } from '../form.ts';
import { LANGUAGES, namedLanguages } from './names.ts';
import { Translation } from './translation.tsx';
import { sourceTexts, type TranslationValues } from './translations.ts';

interface LanguagesProps {
  form: UseFormReturn<QuestionValues>;
  /** Whether the question is published; its own language then stays. */
  isFixed: boolean;
}

/** Selects a language and adds it. */
function AddLanguage({ taken, add }: { taken: string[]; add(tag: string): void }) {
  const [tag, setTag] = useState('');
  return (
    <div className="row">
      <Filter small label={t('Language to add')} value={tag} onChange={event => setTag(event.target.value)}>
        <option value="">{t('Select…')}</option>
        {namedLanguages(LANGUAGES.filter(each => !taken.includes(each))).map(language => (
          <option key={language.tag} value={language.tag}>
            {language.name}
          </option>
        ))}
      </Filter>
      <Button
        small
        isDisabled={tag === ''}
        onPress={() => {
          add(tag);
          setTag('');
        }}
      >
        <Icon name="plus" size={15} /> {t('Add language')}
      </Button>
    </div>
  );
}

/** The language of the question's own texts. */
const OwnLanguage = ({ form, isFixed }: LanguagesProps) => {
  const own = form.watch('locale');
  const tags = own && !LANGUAGES.includes(own) ? [...LANGUAGES, own] : LANGUAGES;
  return (
    <SelectInput
      form={form}
      name="locale"
      label={t('Language of the texts above')}
      hint={t('Users with another language see the translation, if there is one.')}
      disabled={isFixed}
    >
      {!isFixed && <option value="">{t('Default language')}</option>}
      {namedLanguages(tags).map(({ tag, name }) => (
        <option key={tag} value={tag}>
          {name}
        </option>
      ))}
    </SelectInput>
  );
};

/** The question's languages: its own, and translations next to the texts. */
export function Languages({ form, isFixed }: LanguagesProps) {
  form.register('translations');
  const values = form.watch();
  const { translations, locale: own } = values;
  const error = form.formState.errors.translations as FieldError | undefined;
  const set = (next: TranslationValues) => form.setValue('translations', next, { shouldDirty: true });
  const sources = sourceTexts(values);
  const remove = (tag: string) => {
    const { [tag]: _, ...others } = translations;
    form.clearErrors('translations');
    set(others);
  };
  return (
    <section className="stack">
      <h2 className={editor.legend}>{t('Languages')}</h2>
      <OwnLanguage form={form} isFixed={isFixed} />
      {Object.entries(translations).map(([tag, texts]) => (
        <Translation
          key={tag}
          {...{ tag, sources, texts, own }}
          isRefused={error !== undefined}
          change={(place, text) => set({ ...translations, [tag]: { ...texts, [place]: text } })}
          remove={() => remove(tag)}
        />
      ))}
      {error && (
        <p role="alert" className={fields.error}>
          {error.message}
        </p>
      )}
      <AddLanguage taken={[own, ...Object.keys(translations)]} add={tag => set({ ...translations, [tag]: {} })} />
    </section>
  );
}
