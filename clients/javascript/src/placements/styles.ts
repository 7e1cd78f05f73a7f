/**
 * Styles of the panel and the tab; on narrow screens the panel is a sheet at the lower edge. A dialog of the page that opens later
 * takes the pointer from the page: an open panel above it must still be closed.
 */
export const STYLES = `
.panel { z-index: 2147483647; pointer-events: auto; --_radius: var(--parley-radius, var(--_r, 12px)); position: fixed; inset: calc(16px + env(safe-area-inset-top, 0px)) calc(16px + env(safe-area-inset-right, 0px)) calc(16px + env(safe-area-inset-bottom, 0px)) calc(16px + env(safe-area-inset-left, 0px));
  width: min(400px, 100% - 32px); height: fit-content; max-width: none; max-height: calc(100% - 32px); margin: auto; border: 0; background: none; color: inherit;
  overflow: auto; overscroll-behavior: contain; border-radius: var(--_radius); box-shadow: 0 8px 32px rgb(0 0 0 / 0.3); }
.panel[data-at*=top] { margin-top: 0; }
.panel[data-at*=bottom] { margin-bottom: 0; }
.panel[data-at$=left] { margin-left: 0; }
.panel[data-at$=right] { margin-right: 0; }
.panel:modal::backdrop { background: rgb(0 0 0 / 0.5); }
.cross { position: absolute; top: 4px; inset-inline-end: 4px; width: 44px; padding: 0; display: grid; place-items: center; border-color: transparent; color: var(--parley-text, var(--_t, CanvasText)); }
.cross svg { width: 20px; }
.panel:has(.thanks) .cross { display: none; }
.panel :is(.progress, legend) { padding-inline-end: 32px; }
.tab { position: fixed; inset: auto calc(16px + env(safe-area-inset-right, 0px)) calc(16px + env(safe-area-inset-bottom, 0px)) auto; border-radius: 22px; border-color: var(--_accent); background: var(--_accent); color: var(--_on); }
@media (max-width: 599px) {
  .panel[data-at] { inset: auto 0 var(--_below, 0px); width: 100%; margin: 0; max-height: calc(90% - var(--_below, 0px)); border-radius: var(--_radius) var(--_radius) 0 0; }
  .panel :is(.card, .thanks) { border-width: 1px 0 0; border-end-start-radius: 0; border-end-end-radius: 0; }
  .panel :is(.actions, .thanks) { padding-bottom: calc(20px + env(safe-area-inset-bottom, 0px)); }
}
@media (prefers-reduced-motion: no-preference) { .panel { animation: in 0.2s; } @keyframes in { from { opacity: 0; translate: 0 16px; } } }
`;
