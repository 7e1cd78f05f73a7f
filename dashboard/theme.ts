export type Theme = 'system' | 'light' | 'dark';

const KEPT_UNDER = 'parley.theme';

/** The look that was chosen; `system` follows the browser. */
export const keptTheme = (): Theme => (localStorage.getItem(KEPT_UNDER) as Theme | null) ?? 'system';

/** Shows the page in a look and keeps the choice; base.css does the rest. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(KEPT_UNDER, theme);
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset.theme = theme;
}
