import { element } from './dom.ts';

/**
 * Default styles: inherit fonts and colors of the app, light or dark. They depend on the width of the card, not of the
 * window, and hold if a style sheet of the page unsets everything on the host.
 */
export const STYLES = `
:host { display: block; }
:host([data-state=empty]) { display: none; }
:host > div { display: contents; }
* { box-sizing: border-box; margin: 0; padding: 0; }
.frame { --_accent: var(--parley-accent, var(--_a, #2563eb)); --_on: var(--parley-on-accent, var(--_o, #fff));
  --_back: var(--parley-background, var(--_b, Canvas)); --_line: 1px solid var(--parley-border, color-mix(in srgb, currentColor 55%, transparent));
  --_radius: var(--parley-radius, var(--_r, 12px)); container-type: inline-size; contain-intrinsic-inline-size: 264px; overflow-wrap: anywhere;
  text-align: start; text-indent: 0; text-transform: none; white-space: normal; color: var(--parley-text, var(--_t, CanvasText)); }
.card, .thanks { background: var(--_back); border: var(--_line); border-radius: var(--_radius); padding: 20px; }
.card { padding-bottom: 0; display: flow-root; }
fieldset { border: 0; min-width: 0; }
legend { display: block; width: 100%; }
legend, .label, .submit, .thanks .title { font-weight: 600; }
h2 { font: inherit; display: inline; }
.optional, .ends, .progress { font-size: .875em; font-weight: 400; }
legend, .progress, .description, .range, .input, .error { margin-bottom: 12px; }
.label { display: block; margin-bottom: 4px; }
.comment { margin-top: 8px; }
.range { width: fit-content; max-width: 100%; }
.scale { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(0, 44px); font-variant-numeric: tabular-nums; }
.thumbs { grid-auto-columns: minmax(0, 88px); }
.ends { display: flex; gap: 16px; width: 0; min-width: 100%; margin-top: 4px; }
.ends :last-child { text-align: end; margin-inline-start: auto; }
.point { position: relative; }
.point input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; }
.point span { display: grid; place-items: center; height: 44px; font-size: min(1em, 18px); }
.number, .thumbs { border: var(--_line); border-radius: 8px; overflow: hidden; }
:is(.number, .thumbs) > * + * span { border-inline-start: var(--_line); }
.smiley span { border-radius: 8px; }
svg { display: block; width: 28px; max-width: 100%; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
@media (hover: hover) {
  .point:hover span { background: color-mix(in srgb, var(--_accent) 16%, transparent); }
  .star .point:is(:hover, :has(~ :hover)) svg { fill: color-mix(in srgb, var(--_accent) 40%, transparent); }
}
.star .point:has(:checked, ~ * > :checked) svg { fill: var(--_accent); }
.star i { display: none; font-style: normal; }
.option { display: flex; gap: 12px; align-items: center; min-height: 44px; cursor: pointer; }
.option input { width: 20px; height: 20px; flex: none; accent-color: var(--_accent); }
.option:not(:has(:checked)) + .input { display: none; }
.input, .button { font: inherit; color: inherit; background: none; border: var(--_line); border-radius: 8px; min-height: 44px; padding: 8px; }
.input { display: block; width: 100%; }
.button { padding-inline: 16px; cursor: pointer; }
.error { color: var(--parley-error, color-mix(in srgb, red 65%, currentColor)); margin-top: 12px; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; position: sticky; bottom: var(--_below, 0); padding: 12px 0 20px; background: var(--_back); border-radius: 0 0 var(--_radius) var(--_radius); container-type: scroll-state; margin-top: 128px; }
.gap { margin-bottom: -128px; }
@container scroll-state(stuck: bottom) { .actions::before { content: ''; position: absolute; inset: -12px 0 100%; background: linear-gradient(transparent, #0003); pointer-events: none; } }
.scale:not(.star) :checked + span, .submit { background: var(--_accent); border-color: var(--_accent); color: var(--_on); }
.submit { flex: 1; min-width: 88px; max-width: 240px; }
.dismiss { border-color: transparent; margin-inline-start: auto; }
.thanks { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; }
.thanks > div { flex: 1 1 160px; }
.thanks .description { margin: 4px 0 0; }
.check { color: var(--_accent); }
.link { color: inherit; display: inline-block; min-height: 24px; }
:focus-visible { outline: 3px solid var(--parley-focus, currentColor); outline-offset: 2px; }
.point :focus-visible + span { outline: 2px solid var(--parley-focus, currentColor); outline-offset: -5px; }
[hidden], p:empty { display: none !important; }
@container (max-width: 343px) {
  .card, .thanks { padding-inline: 12px; }
  .wide { margin-inline: -13px; max-width: none; width: auto; font-size: 14px; }
  .wide .ends { padding-inline: 13px; }
  .wide .scale { border: var(--_line); border-radius: 0; }
  .wide > * > * + * span { border-inline-start: var(--_line); }
  .wide :checked + span { background: var(--_accent); color: var(--_on); }
  .star i { display: block; }
  i + svg { display: none; }
  .button { padding-inline: 12px; }
}
@media (prefers-reduced-motion: no-preference) { .check path { stroke-dasharray: 24; animation: _ .4s; } @keyframes _ { from { stroke-dashoffset: 24; } } }
@media (forced-colors: active) { .frame { --_accent: Highlight; --_on: HighlightText; } :checked + span, .submit { forced-color-adjust: none; } }
`;

/** Adds styles to a shadow root in a way that a strict CSP allows. */
export function addSheet(root: ShadowRoot, text: string): void {
  if (root.adoptedStyleSheets) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  } else root.append(element('style', {}, text));
}
