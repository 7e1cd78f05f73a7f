/** Default styles: inherit fonts and colors of the app, light or dark. */
export const STYLES = `
:host { display: block; font: inherit; color: var(--parley-text, CanvasText); }
:host([data-state='empty']) { display: none; }
* { box-sizing: border-box; }
[part~='card'], [part~='thanks'] { background: var(--parley-background, Canvas); border: 1px solid var(--parley-border, GrayText);
  border-radius: var(--parley-radius, 0.75rem); padding: 1.25rem; margin: 0; }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; min-width: 0; }
legend, [part~='label'] { display: block; padding: 0; font-weight: 600; margin-bottom: 0.5rem; }
[part~='title'] { font: inherit; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
[part~='description'], [part~='ends'] { margin: 0 0 0.75rem; overflow-wrap: anywhere; }
[part~='ends'] { display: flex; justify-content: space-between; gap: 1rem; font-size: 0.875em; }
[part~='scale'] { display: flex; flex-wrap: wrap; gap: 0.25rem; margin-bottom: 0.5rem; }
[part~='point'] { position: relative; }
[part~='point'] input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: pointer; }
[part~='point'] span { display: grid; place-items: center; min-width: 2.5rem; min-height: 2.5rem; padding: 0 0.25rem;
  border: 1px solid var(--parley-border, GrayText); border-radius: 0.5rem; }
[part~='point'] input:checked + span { background: var(--parley-accent, #1d4ed8); color: var(--parley-on-accent, #fff);
  border-color: var(--parley-accent, #1d4ed8); }
input:focus-visible + span, :focus-visible { outline: 3px solid var(--parley-focus, var(--parley-accent, #1d4ed8)); outline-offset: 2px; }
[part~='option'] { display: flex; align-items: center; gap: 0.5rem; min-height: 2rem; overflow-wrap: anywhere; }
[part~='option'] input { width: 1.25rem; height: 1.25rem; flex: none; accent-color: var(--parley-accent, #1d4ed8); }
[part~='input'] { width: 100%; font: inherit; color: inherit; background: var(--parley-background, Canvas); padding: 0.5rem;
  border: 1px solid var(--parley-border, GrayText); border-radius: 0.5rem; margin-bottom: 0.75rem; }
[part~='error'] { color: var(--parley-error, #b91c1c); margin: 0 0 0.75rem; }
[part~='error']:empty { display: none; }
[part~='actions'] { display: flex; flex-wrap: wrap; gap: 0.5rem; }
button { font: inherit; min-height: 2.5rem; padding: 0 1rem; border-radius: 0.5rem; cursor: pointer;
  border: 1px solid var(--parley-border, GrayText); background: transparent; color: inherit; }
[part~='submit'] { background: var(--parley-accent, #1d4ed8); border-color: var(--parley-accent, #1d4ed8); color: var(--parley-on-accent, #fff); }
@supports (color: light-dark(red, red)) {
  [part~='error'] { color: var(--parley-error, light-dark(#b91c1c, #fca5a5)); }
  input:focus-visible + span, :focus-visible { outline-color: var(--parley-focus, var(--parley-accent, light-dark(#1d4ed8, #93c5fd))); }
}
@media (forced-colors: active) { [part~='point'] input:checked + span { outline: 3px solid Highlight; } }
`;

/** Adds the styles to a shadow root in a way that a strict CSP allows. */
export function addStyles(root: ShadowRoot): void {
  if ('adoptedStyleSheets' in root && 'replaceSync' in CSSStyleSheet.prototype) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    root.adoptedStyleSheets = [sheet];
  } else {
    const style = document.createElement('style');
    style.textContent = STYLES;
    (root as ShadowRoot).append(style);
  }
}
