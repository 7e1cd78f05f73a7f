import { useEffect, useId, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import fields from '../../../components/fields/fields.module.css';
import { t } from '../../../i18n.ts';
import styles from './languages.module.css';
import { languageName } from './names.ts';
import { missingTexts, type SourceText } from './translations.ts';

interface TranslationProps {
  tag: string;
  sources: SourceText[];
  texts: Record<string, string>;
  /** Language of the question's own texts. */
  own: string;
  /** Whether the server has refused to publish the question without the missing texts. */
  isRefused: boolean;
  change(place: string, text: string): void;
  remove(): void;
}

interface RowProps extends Pick<TranslationProps, 'tag' | 'own' | 'isRefused'> {
  source: SourceText;
  text: string;
  change(text: string): void;
}

/** A text next to its translation. */
function Row({ source, text, tag, own, isRefused, change }: RowProps) {
  const id = useId();
  const isMissing = text === '';
  return (
    <div className={styles.row}>
      <div className="wrap-anywhere">
        <p className="small quiet">{source.label}</p>
        <p id={`${id}-source`} lang={own || undefined} dir="auto">
          {source.text}
        </p>
      </div>
      <div className={fields.field}>
        <textarea
          lang={tag}
          dir="auto"
          rows={1}
          className={fields.input}
          aria-label={t('{text}, translation to {language}', { text: source.label, language: languageName(tag) })}
          aria-describedby={`${id}-source`}
          aria-invalid={(isMissing && isRefused) || undefined}
          maxLength={1000}
          value={text}
          onChange={event => change(event.target.value)}
        />
        {isMissing && <p className={isRefused ? fields.error : fields.hint}>{t('Not translated yet')}</p>}
      </div>
    </div>
  );
}

/** The texts of the question next to those of one language. */
export function Translation({ tag, sources, texts, own, isRefused, change, remove }: TranslationProps) {
  const missing = missingTexts(sources, texts).length;
  const name = languageName(tag);
  const [isOpen, setOpen] = useState(Object.keys(texts).length === 0);
  const hidesFaults = isRefused && missing > 0;
  useEffect(() => {
    if (hidesFaults) setOpen(true);
  }, [hidesFaults]);
  return (
    <details className={styles.language} open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{name}</strong>{' '}
        <span className="small quiet">
          {missing === 0
            ? t('Complete')
            : t('{count, plural, one {# text missing} other {# texts missing}}', { count: missing })}
        </span>
      </summary>
      <div className="stack">
        {sources.map(source => (
          <Row
            key={source.place}
            {...{ source, tag, own, isRefused }}
            text={texts[source.place] ?? ''}
            change={text => change(source.place, text)}
          />
        ))}
        <div>
          <Button small look="danger-quiet" onPress={remove}>
            {t('Remove {language}', { language: name })}
          </Button>
        </div>
      </div>
    </details>
  );
}
