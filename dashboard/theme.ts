export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'parley.theme';

/** The selected theme; `system` follows the browser. */
export const savedTheme = (): Theme => (localStorage.getItem(STORAGE_KEY) as Theme | null) ?? 'system';

/** Applies and saves a theme; the colors are in base.css. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(STORAGE_KEY, theme);
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset.theme = theme;
}
