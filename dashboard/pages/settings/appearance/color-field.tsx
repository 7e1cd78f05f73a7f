import { useId } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import type { Contrast } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import fields from '../../../components/fields/fields.module.css';
import { t } from '../../../i18n.ts';
import styles from './appearance.module.css';
import { type AppearanceValues, type ColorName, isColor } from './form.ts';

interface ColorFieldProps {
  form: UseFormReturn<AppearanceValues>;
  name: ColorName;
  label: string;
  hint: string;
  /** The contrast that the server has refused, if it is that of this color. */
  contrast: Contrast | undefined;
}

/** A button that sets the color that passes. */
const Nearest = ({ color, take }: { color: string; take(): void }) => (
  <div>
    <Button small onPress={take}>
      <span aria-hidden="true" className={styles.swatch} ref={node => node?.style.setProperty('--color', color)} />
      <span>{t('Use {color}', { color })}</span>
    </Button>
  </div>
);

/** A color as text, with the color picker of the browser. Empty: the color of the theme. */
export function ColorField({ form, name, label, hint, contrast }: ColorFieldProps) {
  const id = useId();
  const value = form.watch(name);
  const error = form.formState.errors[name];
  const set = (color: string) => {
    form.setValue(name, color, { shouldDirty: true });
    form.clearErrors(name);
  };
  const take = (color: string) => {
    set(color);
    form.setFocus(name);
  };
  return (
    <div className={fields.field}>
      <label className={fields.label} htmlFor={id}>
        {label}
      </label>
      <div className={styles.color}>
        <input
          type="color"
          className={styles.picker}
          aria-label={t('{name}, color picker', { name: label })}
          value={isColor(value) ? value : '#808080'}
          data-empty={!isColor(value) || undefined}
          onChange={event => set(event.target.value)}
        />
        <input
          id={id}
          className={`${fields.input} ${fields.narrow}`}
          placeholder={t('Default')}
          spellCheck={false}
          autoComplete="off"
          maxLength={7}
          aria-invalid={error ? true : undefined}
          aria-describedby={`${id}-hint${error ? ` ${id}-error` : ''}`}
          {...form.register(name, {
            validate: color => color === '' || isColor(color) || t('Enter a color such as #1d4ed8.'),
          })}
        />
        {value !== '' && (
          <Button
            small
            look="quiet"
            aria-label={t('Use the default of {name}', { name: label })}
            onPress={() => take('')}
          >
            {t('Use the default')}
          </Button>
        )}
      </div>
      <p id={`${id}-hint`} className={fields.hint}>
        {hint}
      </p>
      {error && (
        <p id={`${id}-error`} role="alert" className={fields.error}>
          {error.message}
        </p>
      )}
      {error && contrast && <Nearest color={contrast.nearest} take={() => take(contrast.nearest)} />}
    </div>
  );
}
