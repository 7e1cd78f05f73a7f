import { type Locale, setTexts } from '../../../dashboard/i18n.ts';
import { compiledMessages } from '../../../dashboard/vite.config.ts';

/** Activates the dashboard's texts of a language, for tests of its functions without a browser. */
export const activateTexts = (locale: Locale): void => setTexts(locale, compiledMessages(locale) as never);
