import { useState } from 'react';
import { LOCALES, type Locale, t } from '../i18n.ts';
import { useLocale } from '../locale.ts';
import { applyTheme, keptTheme, type Theme } from '../theme.ts';
import styles from './preferences.module.css';

/** The switch of the language. */
export function LanguageSelect() {
  const { spoken, speak } = useLocale();
  return (
    <select
      className={styles.select}
      aria-label={t('Language')}
      value={spoken}
      onChange={event => void speak(event.target.value as Locale)}
    >
      {Object.entries(LOCALES).map(([locale, name]) => (
        <option key={locale} value={locale} lang={locale}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The switch of the look. */
export function ThemeSelect() {
  const [theme, setTheme] = useState(keptTheme);
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
