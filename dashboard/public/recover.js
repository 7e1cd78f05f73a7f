/**
 * Shows a page whose first script or stylesheet was not loaded, such as because the network has changed: it is reloaded
 * once, and then offers to be reloaded. A file of its own without dependencies, because the others may be missing.
 */
(() => {
  const KEY = 'parley.recovered';
  const ONCE_IN_MS = 30_000;
  const TEXTS = {
    en: ['The page could not be loaded. Check your connection.', 'Reload page'],
    de: ['Die Seite konnte nicht geladen werden. Prüfe deine Verbindung.', 'Seite neu laden'],
  };
  const root = () => document.getElementById('root');

  const offerReload = () => {
    const language = (localStorage.getItem('parley.locale') ?? navigator.language).slice(0, 2) === 'de' ? 'de' : 'en';
    const [text, label] = TEXTS[language];
    const note = document.createElement('p');
    note.setAttribute('role', 'alert');
    note.textContent = text;
    const button = document.createElement('button');
    button.textContent = label;
    button.onclick = () => location.reload();
    document.documentElement.lang = language;
    root().replaceChildren(note, button);
  };

  const recover = () => {
    if (root()?.hasChildNodes()) return;
    const before = Number(sessionStorage.getItem(KEY));
    if (Date.now() - before < ONCE_IN_MS)
      return root() ? offerReload() : addEventListener('DOMContentLoaded', offerReload);
    sessionStorage.setItem(KEY, String(Date.now()));
    location.reload();
  };

  // Failures of files do not bubble; those of a script's first run have the window as their target.
  addEventListener('error', recover, true);
})();
