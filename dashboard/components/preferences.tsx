import { useState } from 'react';
import { LOCALES, type Locale, t } from '../i18n.ts';
import { useLocale } from '../locale.ts';
import { applyTheme, savedTheme, type Theme } from '../theme.ts';
import styles from './preferences.module.css';

/** Language selector. */
export function LanguageSelect() {
  const { current, change } = useLocale();
  return (
    <select
      className={styles.select}
      aria-label={t('Language')}
      value={current}
      onChange={event => void change(event.target.value as Locale)}
    >
      {Object.entries(LOCALES).map(([locale, name]) => (
        <option key={locale} value={locale} lang={locale}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Theme selector. */
export function ThemeSelect() {
  const [theme, setTheme] = useState(savedTheme);
  const choose = (next: Theme) => {
    applyTheme(next);
    setTheme(next);
  };
  return (
    <select
      className={styles.select}
      aria-label={t('Theme')}
      value={theme}
      onChange={event => choose(event.target.value as Theme)}
    >
      <option value="system">{t('Theme: System')}</option>
      <option value="light">{t('Theme: Light')}</option>
      <option value="dark">{t('Theme: Dark')}</option>
    </select>
  );
}
