import { useEffect, useState } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { TextArea, TextInput } from '../../../components/fields/fields.tsx';
import { t } from '../../../i18n.ts';
import styles from '../editor.module.css';
import type { QuestionValues } from '../form.ts';
import { hasThanks } from './thanks-values.ts';

const isWebAddress = (text: string): boolean => /^https?:\/\/\S/i.test(text);

/** Opens with texts, and when one of the fields has an error. */
function useOpen(form: UseFormReturn<QuestionValues>) {
  const [isOpen, setOpen] = useState(() => hasThanks(form.getValues('thanks')));
  const hasFault = form.formState.errors.thanks !== undefined;
  useEffect(() => {
    if (hasFault) setOpen(true);
  }, [hasFault]);
  return { isOpen, setOpen };
}

/** The text after an answer: title, body and link. */
export function ThanksFields({ form }: { form: UseFormReturn<QuestionValues> }) {
  const { isOpen, setOpen } = useOpen(form);
  const thanks = form.watch('thanks');
  const { label, url } = thanks.link;
  const required = (isRequired: boolean) => ({
    validate: (text: unknown) => !isRequired || text !== '' || t('Required'),
  });
  return (
    <details className={styles.more} open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t('Thanks')}</summary>
      <div className="stack">
        <TextInput
          form={form}
          name="thanks.title"
          label={t('Title of the thanks')}
          hint={t('Shown once the question is answered. Leave empty for the default text.')}
          maxLength={300}
          rules={required(hasThanks(thanks))}
        />
        <TextArea form={form} name="thanks.body" label={t('Text of the thanks')} maxLength={1000} rows={2} />
        <div className={styles.pair}>
          <TextInput
            form={form}
            name="thanks.link.label"
            label={t('Link text')}
            maxLength={80}
            rules={required(url !== '')}
          />
          <TextInput
            form={form}
            name="thanks.link.url"
            type="url"
            label={t('Link address')}
            placeholder="https://"
            rules={{
              validate: text =>
                (label === '' && text === '') ||
                isWebAddress(String(text)) ||
                t('Enter a complete address, including https://.'),
            }}
          />
        </div>
      </div>
    </details>
  );
}
