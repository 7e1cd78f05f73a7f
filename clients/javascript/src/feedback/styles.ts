import { element } from './dom.ts';

/**
 * Default styles: inherit fonts and colors of the app, light or dark. They depend on the width of the card, not of the
 * window, and hold if a style sheet of the page unsets everything on the host.
 */
const STYLES = `
:host { display: block; }
:host([data-state=empty]) { display: none; }
* { box-sizing: border-box; margin: 0; padding: 0; }
[part~=frame] { --_accent: var(--parley-accent, var(--_a, #2563eb)); --_on: var(--parley-on-accent, var(--_o, #fff));
  --_back: var(--parley-background, var(--_b, Canvas)); --_line: var(--parley-border, color-mix(in srgb, currentColor 55%, transparent));
  --_radius: var(--parley-radius, var(--_r, 12px)); display: block; container-type: inline-size; contain-intrinsic-inline-size: 264px; overflow-wrap: anywhere;
  text-align: start; color: var(--parley-text, var(--_t, CanvasText)); }
[part~=card], [part~=thanks] { background: var(--_back); border: 1px solid var(--_line); border-radius: var(--_radius); padding: 20px; }
[part~=card] { padding-bottom: 0; display: flow-root; }
fieldset { border: 0; min-width: 0; }
legend { display: block; width: 100%; }
legend, [part~=label], [part~=thanks] [part~=title] { font-weight: 600; }
[part~=title] { font: inherit; display: inline; margin-inline-end: 4px; }
[part~=optional], [part~=ends], [part~=progress] { font-size: 0.875em; font-weight: 400; }
legend, [part~=label], [part~=progress], [part~=description], [part~=range], [part~=input], [part~=error] { margin-bottom: 12px; }
[part~=label] { display: block; margin-bottom: 4px; }
[part~=comment] { margin-top: 8px; }
[part~=range] { width: fit-content; max-width: 100%; }
[part~=scale] { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(0, 44px); font-variant-numeric: tabular-nums; }
[part~=thumbs] { grid-auto-columns: minmax(0, 88px); }
[part~=ends] { display: flex; justify-content: space-between; gap: 16px; width: 0; min-width: 100%; margin-top: 4px; }
[part~=ends] :last-child { text-align: end; }
[part~=point] { position: relative; }
[part~=point] input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; }
[part~=point] span { display: grid; place-items: center; height: 44px; font-size: min(1em, 18px); }
:is([part~=number], [part~=thumbs]) > * + * span { border-inline-start-width: 0; }
:is([part~=number], [part~=thumbs]) span { border: 1px solid var(--_line); }
:is([part~=number], [part~=thumbs]) :first-child > span { border-start-start-radius: 8px; border-end-start-radius: 8px; }
:is([part~=number], [part~=thumbs]) :last-child > span { border-start-end-radius: 8px; border-end-end-radius: 8px; }
[part~=smiley] span { border-radius: 8px; }
svg { display: block; width: 28px; max-width: 100%; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
@media (hover: hover) {
  [part~=point]:hover span { background: color-mix(in srgb, var(--_accent) 16%, transparent); }
  [part~=star] :is([part~=point]:hover, [part~=point]:has(~ :hover)) svg { fill: color-mix(in srgb, var(--_accent) 40%, transparent); }
}
[part~=star] :is(:checked + span, [part~=point]:has(~ * > :checked)) svg { fill: var(--_accent); }
[part~=star] i { display: none; font-style: normal; }
[part~=option] { display: flex; gap: 12px; align-items: center; min-height: 44px; cursor: pointer; }
[part~=option] input { width: 20px; height: 20px; flex: none; accent-color: var(--_accent); }
[part~=option]:not(:has(:checked)) + [part~=input], fieldset:not(:has(:checked)) + [part~=comment] { display: none; }
[part~=input] { display: block; width: 100%; min-height: 44px; padding: 8px; font: inherit; color: inherit; background: var(--_back); border: 1px solid var(--_line); border-radius: 8px; }
[part~=error] { color: var(--parley-error, color-mix(in srgb, red 65%, currentColor)); margin-top: 12px; }
[part~=actions] { display: flex; flex-wrap: wrap; gap: 8px; position: sticky; bottom: var(--_below, 0px); padding: 12px 0 20px; background: var(--_back); border-radius: 0 0 var(--_radius) var(--_radius); container-type: scroll-state; margin-top: 128px; }
[part~=gap] { margin-bottom: -128px; }
[part~=actions]::before { content: ''; position: absolute; inset: -12px 0 100%; background: linear-gradient(transparent, rgb(0 0 0 / 0.2)); pointer-events: none; opacity: 0; }
@container scroll-state(stuck: bottom) { [part~=actions]::before { opacity: 1; } }
[part~=button] { font: inherit; color: inherit; background: none; border: 1px solid var(--_line); border-radius: 8px; min-height: 44px; padding: 0 16px; cursor: pointer; }
[part~=point] input:checked + span, [part~=submit] { background: var(--_accent); border-color: var(--_accent); color: var(--_on); }
[part~=star] input:checked + span { background: none; color: inherit; }
[part~=submit] { flex: 1; max-width: 240px; min-width: 88px; font-weight: 600; }
[part~=dismiss] { border-color: transparent; margin-inline-start: auto; }
[part~=thanks] { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; }
[part~=thanks] > div { flex: 1 1 160px; }
[part~=thanks] [part~=description] { margin: 4px 0 0; }
[part~=check] { color: var(--_accent); }
[part~=link] { color: inherit; display: inline-block; min-height: 24px; }
:focus-visible { outline: 3px solid var(--parley-focus, currentColor); outline-offset: 2px; }
[part~=point] :focus-visible + span { outline: 2px solid var(--parley-focus, currentColor); outline-offset: -5px; }
[hidden], [part~=error]:empty, [part~=progress]:empty { display: none !important; }
@container (max-width: 343px) {
  [part~=card], [part~=thanks] { padding-inline: 12px; }
  [part~=wide] { margin-inline: -13px; max-width: none; width: auto; font-size: 14px; }
  [part~=wide] [part~=ends] { padding-inline: 13px; }
  [part~=wide] span { border-radius: 0 !important; }
  [part~=star] i { display: block; }
  i + svg { display: none; }
  [part~=star] span:has(i) { border: 1px solid var(--_line); border-inline-start-width: 0; }
  [part~=star] input:checked + span:has(i) { background: var(--_accent); color: var(--_on); }
  [part~=button] { padding-inline: 12px; }
}
@media (prefers-reduced-motion: no-preference) { [part~=check] path { stroke-dasharray: 24; animation: _ 0.4s; } @keyframes _ { from { stroke-dashoffset: 24; } } }
@media (forced-colors: active) { [part~=frame] { --_accent: Highlight; --_on: HighlightText; } :checked + span, [part~=submit] { forced-color-adjust: none; } }
`;

/** Adds styles to a shadow root in a way that a strict CSP allows; returns a function that replaces them. */
export function addSheet(root: ShadowRoot, text: string): (text: string) => void {
  if (!root.adoptedStyleSheets) {
    const style = element('style', {}, text);
    root.append(style);
    return next => {
      style.textContent = next;
    };
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  return next => sheet.replaceSync(next);
}

/** Adds the styles of the view; the returned function sets those of the tenant. */
export function addStyles(root: ShadowRoot): (tenant: string) => void {
  addSheet(root, STYLES);
  return addSheet(root, '');
}
